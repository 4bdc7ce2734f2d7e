//! The instruction for each speaker: what to answer, and in which form.

use crate::turn::TurnKind;

/// Says what is to be answered, and in which form.
pub fn instruction(kind: TurnKind) -> &'static str {
    match kind {
        TurnKind::Verdict(..) => {
            "Answer with JSON only: {\"ok\": true if you agree | false if you block | null if you have a concern, \
             \"reasons\": [\"…\"], \"suggestions\": [\"…\"], \"blocking_open_questions\": [\"what only the user can say\"]}"
        }
        TurnKind::Judge(..) => {
            "Look at your question again, given what was asked and answered since. Answer with JSON only: {\"action\": \
             \"ask\" | \"modify\" | \"skip\", \"question\": \"the new wording, if you modify it\", \"reason\": \"the user \
             sees this\"}"
        }
        TurnKind::FollowUp(_) => {
            "If the user's answers raise one more question that you need answered, ask it. Answer with JSON only: \
             {\"question\": \"…\" | null}"
        }
        TurnKind::AnswerBack(..) => {
            "The user asks you back. Answer with JSON only: {\"answer\": \"…\"}"
        }
        TurnKind::Intent => {
            "Judge what the earlier file is for. Answer with JSON only: {\"intent\": \"refine\" | \"new_with_reference\" | \
             \"new\" | \"continue_discussion\" | \"unsure\", \"reason\": \"…\"}"
        }
        TurnKind::Extraction => {
            "Extract from rounds 1 and 2 what roles agree on, and what is in conflict. Cite the roles of each point: they are \
             asked whether it is theirs. Answer with JSON only: {\"agreed_points\": [{\"point\": \"…\", \"roles\": [\"…\"]}], \
             \"conflicting_points\": [{\"point\": \"…\", \"roles\": [\"…\"]}]}"
        }
        TurnKind::Confirm(_) => {
            "The coach writes these points of you. Answer each in its order: \"yes\" if it stands, \"no\" if it doesn't, or \
             {\"reword\": \"…\"}. Answer with JSON only: {\"answers\": [\"yes\", \"no\", {\"reword\": \"…\"}]}"
        }
        TurnKind::Synthesis => {
            "Sum up the verdicts. You have no vote: of five agreements a plan comes, and what you reserve becomes a risk of it. \
             Else each role that you name is asked whether it said that. Answer with JSON only: {\"agreed_points\": [\"…\"], \"reserved_points\": [{\"role\": \"…\", \
             \"concern\": \"…\", \"severity\": \"warning\" | \"error\"}], \"strong_disagreements\": [{\"topic\": \"…\", \
             \"positions\": {\"Role\": \"…\"}}], \"summary\": \"…\"}"
        }
        TurnKind::Plan => {
            "Write the plan that all roles agreed on, by plan_schema. Keep the ids of an earlier plan for what stays. Answer with JSON only: {\"why\", \"what\", \
             \"requirements\": [{\"id\", \"text\"}], \"draft_files\": [{\"path\", \"purpose\"}], \"acceptance\": [{\"id\", \
             \"requirement\": \"R1\", \"text\", \"command\": optional, a line of sh that ends with status 0 once it holds}], \"scope\": [], \"non_goals\": [], \"constraints\": [], \"decisions\": [], \
             \"open_questions\": [], \"test_plan\": \
             [{\"id\", \"covers\": [\"A1\"], \"text\", \"command\"}], \"risks\": [{\"id\", \"text\", \"owner\", \"affects\": [\"R1\"]}]}"
        }
    }
}
