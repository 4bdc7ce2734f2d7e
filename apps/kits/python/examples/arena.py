"""A complete PipeMux app: a fight with three enemies and a fireball."""

from dataclasses import dataclass, field

from pipemux import App, Done, Fault, Thing, View, action, link, run


@dataclass
class Enemy(Thing):
    level: int
    hp: int
    state: str


class Corpse(Enemy, kind=None):
    """A dead enemy is a different thing from the living one, with another key."""


def enemies() -> list[Enemy]:
    slime = Enemy("s1", "史莱姆1", 1, 11, "正在舔舐伤口")
    other = Enemy("s2", "史莱姆2", 1, 15, "惊恐的看着你")
    return [slime, other, Enemy("b1", "强盗", 2, 25, "做出战斗的架势")]


@dataclass
class Arena(App):
    enemies: list[Enemy] = field(default_factory=enemies)
    gold: int = 0
    fled: bool = False

    @action(prominence="featured")
    def attack(self, target: Enemy) -> Done:
        """物理攻击"""
        return self.cast_fireball(target, 11)

    @action(prominence="featured")
    def cast_fireball(self, target: Enemy, mana: int = 10) -> Done:
        """魔法攻击 @param mana (Default: 10)"""
        name, at = target.label, self.enemies.index(target)
        target.hp, target.state = max(target.hp - mana, 0), "受了伤"
        if target.hp > 0:
            return Done(f"{name} takes {mana}, {target.hp} left")
        key, label = f"corpse-{target.key}", f"{name}的尸体"
        self.enemies[at] = corpse = Corpse(key, label, target.level, 0, "倒下了")
        return Done(f"{name} takes {mana}, dies").link("loot it", self.loot, corpse)

    @action(prominence="featured")
    def loot(self, target: Thing) -> str:
        """搜刮尸体"""
        if not isinstance(target, Corpse):
            raise Fault("it is still alive")
        self.enemies.remove(target)
        self.gold += 7
        return "7 gold"

    @action()
    def flee(self) -> str:
        """逃跑"""
        self.fled = True
        return "you run"

    def view(self, view: View) -> None:
        view.title = f"{len(self.enemies)} enemies · {self.gold} gold"
        if self.fled:
            view.line("You are safe.").only()
            return
        rows = [(each, each.level, each.hp, each.state) for each in self.enemies]
        view.line("## 敌人列表").table(["Name", "Level", "HP", "State"], rows)
        view.line("\n## 快捷栏 (Action Links)")
        for each in self.enemies:
            verb, do = ("攻击", self.attack) if each.hp else ("搜刮", self.loot)
            view.menu(link(verb + each.label.removesuffix("的尸体"), do, each))
            if each.hp and each.level > 1:
                view.menu(link("火球术", self.cast_fireball, each, 20))
        view.menu(link("逃跑", self.flee))

    def gone(self, key: str) -> str | None:
        corpse = self.find(f"corpse-{key}")
        return corpse.label.replace("的尸体", " died") if corpse else None


run(Arena)
