//! Three enemies and a fireball: a whole PipeMux app.

use docui::{Anchor, App, Context, Done, Fault, Found, Look, Object, Opening, Reply, View};

docui::kind!(Enemy = "enemy");
docui::actions! {
    /// What one can do in the arena.
    enum Action {
        /// Physical attack.
        changes featured Attack = attack(target: Anchor<Enemy>);
        /// Magic; each point of mana hits once.
        changes featured CastFireball = cast_fireball(target: Anchor<Enemy>, mana: i64 = 10);
        /// Takes what a dead enemy has.
        changes featured Loot = loot(target: Anchor);
        /// Leaves the enemies behind.
        changes listed Flee = flee();
    }
}

struct Fighter {
    key: &'static str,
    name: &'static str,
    hp: i64,
}

struct Arena {
    enemies: Vec<Fighter>,
    gold: u32,
    fled: bool,
}

impl Arena {
    fn hit(&mut self, key: &str, damage: i64) -> Result<Reply, Fault> {
        let enemy = self.enemies.iter_mut().find(|enemy| enemy.key == key && enemy.hp > 0);
        let enemy = enemy.ok_or_else(|| Fault::not_found("it is dead already").about(key))?;
        enemy.hp -= damage;
        let end = if enemy.hp > 0 { format!("{} left", enemy.hp) } else { "dies".into() };
        let done = Done::new(format!("{} takes {damage}, {end}", enemy.name));
        Ok(match enemy.hp {
            1.. => done,
            _ => done.link("loot it", &Action::Loot { target: Anchor::new(corpse(key), 0) }),
        }
        .into())
    }
}

/// A dead enemy is another thing than the living one, so it has another key.
fn corpse(key: &str) -> String {
    format!("corpse-{key}")
}

impl App for Arena {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        let enemy = |key, name, hp| Fighter { key, name, hp };
        let enemies =
            vec![enemy("s1", "史莱姆1", 11), enemy("s2", "史莱姆2", 15), enemy("b1", "强盗", 25)];
        Ok(Self { enemies, gold: 0, fled: false })
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        match action {
            Action::Attack { target } => self.hit(&target.key, 11),
            Action::CastFireball { mana, .. } if mana < 1 => {
                Err(Fault::usage("mana: expected 1 or more"))
            }
            Action::CastFireball { target, mana } => self.hit(&target.key, mana),
            Action::Loot { target } => {
                let left = self.enemies.len();
                self.enemies.retain(|enemy| corpse(enemy.key) != target.key);
                if self.enemies.len() == left {
                    return Err(Fault::failed("it is alive and keeps what it has"));
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

    fn view(&self, _: &Look) -> View {
        let mut view = View::new(format!("{} enemies · {} gold", self.enemies.len(), self.gold));
        if self.fled {
            view.text("You are safe.\n").only([]);
            return view;
        }
        for enemy in &self.enemies {
            if enemy.hp > 0 {
                let target = Anchor::new(enemy.key, 0);
                view.object(Object::new(enemy.key, enemy.name).ty("enemy"));
                view.text(format!(" {} hp · ", enemy.hp));
                view.titled_link("fireball", &Action::CastFireball { target, mana: 20 });
            } else {
                let label = format!("remains of {}", enemy.name);
                view.object(Object::new(corpse(enemy.key), label).ty("corpse"));
            }
            view.text("\n");
        }
        view
    }

    fn find(&self, key: &str) -> Found {
        for enemy in &self.enemies {
            match (enemy.key == key, corpse(enemy.key) == key, enemy.hp > 0) {
                (true, _, true) | (_, true, false) if !self.fled => return Found::Here(0),
                (true, _, false) => return Found::Gone(Some(format!("{} died", enemy.name))),
                _ => {}
            }
        }
        Found::Gone(None)
    }
}

fn main() -> std::process::ExitCode {
    docui::run::<Arena>()
}
