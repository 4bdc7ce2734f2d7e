/** A complete PipeMux app: a fight with three enemies and a fireball. */

import { action, Done, Fault, int, link, run, thing, type Thing } from "../src/index.ts";

interface Enemy extends Thing { level: number; hp: number; state: string }
interface Arena { enemies: Enemy[]; gold: number; fled: boolean }

const first: Enemy[] = [
  { key: "s1", type: "enemy", label: "史莱姆1", level: 1, hp: 11, state: "正在舔舐伤口" },
  { key: "s2", type: "enemy", label: "史莱姆2", level: 1, hp: 15, state: "惊恐的看着你" },
  { key: "b1", type: "enemy", label: "强盗", level: 2, hp: 25, state: "做出战斗的架势" },
];

function hit(arena: Arena, enemy: Enemy, damage: number): Done {
  const { key, label, level } = enemy;
  Object.assign(enemy, { hp: Math.max(enemy.hp - damage, 0), state: "受了伤" });
  if (enemy.hp > 0) return new Done(`${label} takes ${damage}, ${enemy.hp} left`);
  // A dead enemy is a different thing from the living one, with another key.
  const corpse: Enemy = { key: `corpse-${key}`, label: `${label}的尸体`, level, hp: 0, state: "倒下了" };
  arena.enemies[arena.enemies.indexOf(enemy)] = corpse;
  return new Done(`${label} takes ${damage}, dies`).link("loot it", loot, { target: corpse });
}

const attack = action({ doc: "物理攻击", prominence: "featured", params: { target: thing<Enemy>("enemy") },
  run: (arena: Arena, { target }) => hit(arena, target, 11) });

const castFireball = action({ doc: "魔法攻击", prominence: "featured",
  params: { target: thing<Enemy>("enemy"), mana: int().default(10).doc("(Default: 10)") },
  run: (arena: Arena, { target, mana }) => hit(arena, target, mana) });

const loot = action({ doc: "搜刮尸体", prominence: "featured", params: { target: thing() },
  run(arena: Arena, { target }) {
    if (target.type === "enemy") throw new Fault("it is still alive");
    arena.enemies = arena.enemies.filter((each) => each !== target);
    arena.gold += 7;
    return "7 gold";
  } });

const flee = action({ doc: "逃跑", run(arena: Arena) { arena.fled = true; return "you run"; } });

run<Arena>({
  state: () => ({ enemies: first, gold: 0, fled: false }),
  actions: { attack, cast_fireball: castFireball, loot, flee },
  view({ enemies, gold, fled }, view) {
    view.title = `${enemies.length} enemies · ${gold} gold`;
    if (fled) return void view.line`You are safe.`.only();
    view.line`## 敌人列表`.table(["Name", "Level", "HP", "State"], enemies.map((e) => [e, e.level, e.hp, e.state]));
    view.line`\n## 快捷栏 (Action Links)`;
    for (const target of enemies) {
      const name = target.label.replace("的尸体", "");
      view.menu(target.hp > 0 ? link(`攻击${name}`, attack, { target }) : link(`搜刮${name}`, loot, { target }));
      if (target.level > 1 && target.hp > 0) view.menu(link("火球术", castFireball, { target, mana: 20 }));
    }
    view.menu(link("逃跑", flee, {}));
  },
  gone: ({ enemies }, key) => enemies.find((each) => each.key === `corpse-${key}`)?.label.replace("的尸体", " died"),
});
