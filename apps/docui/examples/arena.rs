//! A complete PipeMux app: a fight with three enemies and a fireball.

use docui::{Anchor, App, Context, Done, Fault, Found, Object, Opening, Reply, View, ViewRequest};

docui::kind!(Enemy = "enemy");
docui::actions! {
    /// The actions in the arena.
    enum Action {
        /// 物理攻击
        changes featured Attack = attack(target: Anchor<Enemy>);
        /// 魔法攻击
        changes featured CastFireball = cast_fireball(
            target: Anchor<Enemy>,
            /// (Default: 10)
            mana: i64 = 10,
        );
        /// 搜刮尸体
        changes featured Loot = loot(target: Anchor);
        /// 逃跑
        changes listed Flee = flee();
    }
}

struct Fighter {
    key: &'static str,
    name: &'static str,
    level: u32,
    hp: i64,
    state: &'static str,
}

struct Arena {
    enemies: Vec<Fighter>,
    gold: u32,
    fled: bool,
}

impl Arena {
    fn hit(&mut self, key: &str, damage: i64) -> Result<Reply, Fault> {
        let enemy = self.enemies.iter_mut().find(|enemy| enemy.key == key && enemy.hp > 0);
        let enemy = enemy.ok_or_else(|| Fault::not_found("it is already dead").about(key))?;
        enemy.hp -= damage;
        enemy.state = if enemy.hp > 0 { "受了伤" } else { "倒下了" };
        let Fighter { name, hp, .. } = *enemy;
        if hp > 0 {
            return Ok(Done::new(format!("{name} takes {damage}, {hp} left")).into());
        }
        let loot = Action::Loot { target: Anchor::new(corpse(key), 0) };
        Ok(Done::new(format!("{name} takes {damage}, dies")).link("loot it", &loot).into())
    }
}

/// A dead enemy is a different object from the living one, so it has a different key.
fn corpse(key: &str) -> String {
    format!("corpse-{key}")
}

impl App for Arena {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        let enemy = |key, name, level, hp, state| Fighter { key, name, level, hp, state };
        let enemies = vec![
            enemy("s1", "史莱姆1", 1, 11, "正在舔舐伤口"),
            enemy("s2", "史莱姆2", 1, 15, "惊恐的看着你"),
            enemy("b1", "强盗", 2, 25, "做出战斗的架势"),
        ];
        Ok(Self { enemies, gold: 0, fled: false })
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        match action {
            Action::Attack { target } => self.hit(&target.key, 11),
            Action::CastFireball { mana, .. } if mana < 1 => Err(Fault::usage("mana: at least 1")),
            Action::CastFireball { target, mana } => self.hit(&target.key, mana),
            Action::Loot { target } => {
                let left = self.enemies.len();
                self.enemies.retain(|enemy| corpse(enemy.key) != target.key);
                if self.enemies.len() == left {
                    return Err(Fault::failed("it is still alive"));
                }
                self.gold += 7;
                Ok(Done::new("7 gold").into())
            }
            Action::Flee {} => {
                self.fled = true;
                Ok(Done::new("you run").into())
            }
        }
    }

    fn view(&self, _: &ViewRequest) -> View {
        let mut view = View::new(format!("{} enemies · {} gold", self.enemies.len(), self.gold));
        if self.fled {
            view.text("You are safe.\n").only([]);
            return view;
        }
        view.text("## 敌人列表\n| Name | Level | HP | State |\n|------|-------|-----|-------|\n");
        let mut links = Vec::new();
        for Fighter { key, name, level, hp, state } in &self.enemies {
            if *hp > 0 {
                let target = Anchor::new(*key, 0);
                view.text("| ").object(Object::new(*key, *name).ty("enemy"));
                view.text(format!(" | {level} | {hp} | {state} |\n"));
                links.push((format!("攻击{name}"), Action::Attack { target: target.clone() }));
                if *level > 1 {
                    links.push(("火球术".to_owned(), Action::CastFireball { target, mana: 20 }));
                }
            } else {
                let target = Anchor::new(corpse(key), 0);
                view.text("| ").object(Object::new(corpse(key), format!("{name}的尸体")));
                view.text(format!(" | {level} | 0 | {state} |\n"));
                links.push((format!("搜刮{name}"), Action::Loot { target }));
            }
        }
        links.push(("逃跑".to_owned(), Action::Flee {}));
        view.text("\n## 快捷栏 (Action Links)\n");
        for (label, action) in &links {
            view.text("- ").titled_link(label, action).text("\n");
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        let is_it = |enemy: &&Fighter| enemy.key == key || corpse(enemy.key) == key;
        match self.enemies.iter().find(is_it) {
            Some(enemy) if !self.fled && (enemy.hp > 0) == (enemy.key == key) => Found::Here(0),
            Some(enemy) if enemy.hp <= 0 => Found::Gone(Some(format!("{} died", enemy.name))),
            _ => Found::Gone(None),
        }
    }
}

fn main() -> std::process::ExitCode {
    docui::run::<Arena>()
}
