//! Separates the long texts of a call from its code, so that a log can identify a text without
//! storing it.

use super::lexer::{Lexer, TokenKind};

/// Splits the code, written on one line, into parts, each with a flag that is true for a long text:
/// a text of more than `text_max` bytes, code that can't be parsed, or everything after the first
/// `code_max` bytes.
///
/// pipemux-daemon/core/src/answers/kept_rest.rs|keep_remaining_steps.rs
/// pipemux-daemon/core/src/verbs/kept_rests.rs|remaining_steps.rs (`Rest` → `RemainingSteps` in all
/// of runs/, verbs/, answers/: `rests_of`, `keep_rest`, `outdate_rests`)
/// pipemux-daemon/core/src/runs/kept_steps.rs|remaining_steps.rs
/// pipemux-daemon/core/src/runs/kept_run.rs|retryable_run.rs
/// pipemux-daemon/core/src/runs/send.rs|send_step.rs
/// pipemux-daemon/core/src/runs/protocol.rs|run_io.rs (it has RunInput, RunOutput)
/// pipemux-daemon/core/src/runs/rebase.rs|retry_stale_step.rs
/// pipemux-daemon/core/src/runs/refused_ref.rs|rewrite_ref_refusal.rs
/// pipemux-daemon/core/src/runs/questions/asker.rs|question_source.rs
/// pipemux-daemon/core/src/runs/undone_round.rs|undo_target.rs
/// pipemux-daemon/core/src/answers/mint.rs|render.rs (step 2 of 4: collect, render, compose,
/// commit) pipemux-daemon/core/src/answers/fit.rs|fit_to_budget.rs
/// pipemux-daemon/core/src/answers/recap.rs|reset_recap.rs
/// pipemux-daemon/core/src/answers/pending.rs|pending_view.rs
/// pipemux-daemon/core/src/answers/document.rs|document_order.rs
/// pipemux-daemon/core/src/answers/draft.rs|answer_draft.rs
/// pipemux-daemon/core/src/answers/send.rs|send_answer.rs
/// pipemux-daemon/core/src/clients/fitting.rs|shorten_answer.rs
/// pipemux-daemon/core/src/clients/connection.rs|client_connection.rs
/// pipemux-daemon/core/src/core/loss.rs|state_loss.rs (also persist/loss.rs → lost_records.rs)
/// pipemux-daemon/core/src/core/parts.rs|component_macros.rs
/// pipemux-daemon/core/src/core/stop.rs|shutdown.rs
/// pipemux-daemon/core/src/verbs/stop.rs|close_end_restart.rs
/// pipemux-daemon/core/src/verbs/next.rs|continuation.rs
/// pipemux-daemon/core/src/verbs/require.rs|request_lookup.rs
/// pipemux-daemon/core/src/verbs/incarnations.rs|carry_over_seen.rs
/// pipemux-daemon/core/src/verbs/opens.rs|open_sequence.rs
/// pipemux-daemon/core/src/event/start.rs|start_process.rs
/// pipemux-daemon/core/src/foreign.rs|app_text.rs (`ForeignText` → `AppText`; foreign/ → app_text/)
/// pipemux-daemon/core/src/foreign/inert.rs|app_text/escape.rs (inert/ → escape/: `markdown_escape`
/// is what one searches for) pipemux-daemon/core/src/foreign/quote.rs|app_text/attribution.rs
/// pipemux-daemon/core/src/intake.rs|app_messages.rs or decode_app.rs (intake/ likewise)
/// pipemux-daemon/core/src/feed.rs|event_log.rs
/// pipemux-daemon/core/src/rate.rs|notice_rate_limit.rs
/// pipemux-daemon/core/src/peer.rs|peer_process.rs (as in pipemux-daemon/src)
/// pipemux-daemon/core/src/rules.rs|user_rules.rs pipemux-daemon/core/src/jobs/words.rs|describe.rs
/// pipemux-daemon/core/src/jobs/saved.rs|saved_jobs.rs
/// pipemux-daemon/core/src/persist/numbers.rs|number_allocator.rs
/// pipemux-daemon/core/src/pipeline.rs|script_pipeline.rs
/// pipemux-daemon/core/src/processes/opens.rs|session_opens.rs
/// pipemux-daemon/core/src/processes/owed_requests.rs|pending_answers.rs
/// pipemux-daemon/core/src/processes/denials.rs|sandbox_denials.rs
/// pipemux-daemon/core/src/processes/forbidden.rs|forbidden_paths.rs
/// pipemux-daemon/core/src/processes/sleep.rs|hibernate_idle.rs
/// pipemux-daemon/core/src/processes/exits.rs|process_exit.rs
/// pipemux-daemon/core/src/scripts/neighbours.rs|infer_app.rs
/// pipemux-daemon/core/src/scripts/labels.rs|resolve_label.rs
/// pipemux-daemon/core/src/scripts/written_call.rs|format_call.rs
/// pipemux-daemon/core/src/views/amounts.rs|format_units.rs
/// pipemux-daemon/core/src/views/minter.rs|id_minter.rs
/// pipemux-daemon/core/src/views/resolved.rs|resolved_refs.rs
/// pipemux-daemon/core/src/views/shown_lines.rs|line_updates.rs
/// pipemux-daemon/core/src/views/held_claim.rs|claimed_versions.rs
/// pipemux-daemon/core/src/workspaces/unfinished.rs|unfinished_rounds.rs
/// pipemux-daemon/core/src/workspaces/memory.rs|view_cache_limits.rs
/// pipemux-daemon/core/src/workspaces/content.rs|rendered_content.rs
/// pipemux-daemon/core/src/workspaces/anchors/written.rs|ref_format.rs
/// pipemux-daemon/core/src/workspaces/anchors/saved.rs|saved_anchors.rs
/// pipemux-daemon/core/src/workspaces/anchors/forget.rs|eviction.rs
/// pipemux-daemon/core/src/authoring.rs|app_development.rs (author_aid.rs → dev_diagnostics.rs)
/// pipemux-daemon/launcher/src/leftovers.rs|kill_orphaned_apps.rs
/// pipemux-daemon/launcher/src/mark.rs|process_mark.rs (sys/marked.rs → sys/process_mark.rs)
/// pipemux-daemon/launcher/src/confine/allowed.rs|syscall_allowlist.rs (filters.rs → seccomp.rs)
/// pipemux-daemon/launcher/src/confine/rules.rs|landlock.rs
/// pipemux-daemon/launcher/src/confine/kept.rs|path_descriptor_cache.rs
/// pipemux-daemon/launcher/src/message.rs|protocol.rs
/// pipemux-daemon/launcher/src/process_limit.rs|process_count_limit.rs
/// pipemux-daemon/src/journal/mark.rs|high_water_mark.rs
/// pipemux-daemon/src/memory.rs|malloc_trim.rs pipemux-daemon/src/inbound.rs|decoder.rs
/// pipemux-daemon/src/driver/records.rs|persistence.rs
/// pipemux-daemon/src/driver/measuring.rs|metrics.rs
/// pipemux-daemon/src/manifests/dirs.rs|directories.rs
/// pipemux-daemon/check/src/garbage.rs|malformed_messages.rs
/// pipemux-daemon/check/src/subject.rs|app_under_test.rs
/// pipemux-daemon/check/src/observer.rs|window_checks.rs
/// pipemux-daemon/check/src/launch.rs|process_launcher.rs
/// pipemux-daemon/check/src/actions.rs|action_checks.rs (jobs, lifecycle, lookups, refusals,
/// versions likewise) pipemux-client/cli/src/begun.rs|handed_over_request.rs
/// pipemux-client/cli/src/local_texts.rs|offline_output.rs
/// pipemux-client/cli/src/changes.rs|file_changes.rs pipemux-client/cli/src/attach/look.rs|style.rs
/// pipemux-client/cli/src/attach/numbers.rs|link_numbers.rs
/// pipemux-client/cli/src/attach/typed.rs|parse_input.rs
/// pipemux-client/cli/src/attach/page.rs|markdown_layout.rs
/// pipemux-client/cli/src/attach/pane.rs|scroll_view.rs
/// pipemux-client/cli/src/attach/outcome.rs|answer_lines.rs
/// pipemux-client/cli/src/who/lines.rs|blame.rs pipemux-client/cli/src/bench/floor.rs|baseline.rs
/// pipemux-client/cli/src/suggestions/known.rs|known_apps.rs
/// pipemux-client/cli/src/setup/endings.rs|line_endings.rs
/// pipemux-client/mcp/src/token.rs|random_token.rs
/// pipemux-client/quick/src/hand_over.rs|fallback.rs pipemux-client/quick/src/place.rs|paths.rs
/// pipemux-client/quick/src/exchange.rs|fast_path.rs pipemux-client/quick/src/pack.rs|msgpack.rs
/// pipemux-client/quick/src/sys.rs|syscalls.rs pipemux-client/quick/src/start.rs|process_stack.rs
/// pipemux-client/quick/src/line.rs|command_line.rs pipemux-client/src/exec.rs|! `pub mod exec`
/// stays pipemux-client/src/exec/edits.rs|file_operations.rs
/// pipemux-client/src/exec/code.rs|call_builder.rs pipemux-client/src/guide.rs|! `pub mod guide`
/// stays pipemux-proto/src/numbers.rs|! `pub mod numbers` stays (line_numbers.rs would be right)
/// pipemux-proto/src/call/alone.rs|split_steps.rs@P
/// pipemux-proto/src/call/apart.rs|redact_long_texts.rs@P
/// pipemux-proto/src/call/excerpt.rs|code_excerpt.rs@P
/// pipemux-proto/src/call/mask.rs|mask_secrets.rs@P
/// pipemux-proto/tokens/src/lanes.rs|parallel_estimate.rs
/// pipemux-proto/tokens/src/steps.rs|state_machine.rs
/// pipemux-proto/tokens/src/class.rs|char_class.rs pipemux-proto/context/src/cut.rs|! `pub mod cut`
/// stays (truncate.rs would be right) apps/docui/src/served.rs|dyn_app.rs (trait `Served` →
/// `DynApp`) apps/docui/src/fd.rs|inherited_socket.rs
/// apps/docui/src/session/unasked.rs|notifications.rs
/// apps/docui/src/session/parked.rs|pending_work.rs
/// apps/docui/src/session/pending.rs|parked_request.rs (merge the two or swap the words: both say
/// “waits for another thread”) apps/docui/src/testing/unasked.rs|notifications.rs
/// apps/docui/src/args/raw.rs|! `pub mod args`: check re-exports; raw_text.rs
/// apps/editor/src/model/text_gate.rs|write_lock.rs (`TextGate` → `WriteLock`, `GateClosed` →
/// `WriteLockError`) apps/editor/src/model/change_log/standing.rs|change_status.rs
/// apps/editor/src/model/own_leftover.rs|temporary_files.rs
/// apps/editor/src/model/interrupted.rs|crash_recovery.rs
/// apps/editor/src/model/editor/former_changes.rs|legacy_history.rs
/// apps/editor/src/model/edits.rs|edit_state.rs
/// apps/editor/src/model/last_text.rs|last_written_text.rs
/// apps/editor/src/model/journal.rs|unsaved_journal.rs
/// apps/editor/src/model/manifest.rs|open_file_list.rs
/// apps/editor/src/update/asked.rs|question_context.rs
/// apps/editor/src/update/apply.rs|apply_patch.rs
/// apps/editor/src/update/gutter.rs|strip_line_numbers.rs
/// apps/editor/src/update/diff/moves.rs|moved_blocks.rs
/// apps/editor/src/update/diff/folding.rs|repeated_replacements.rs
/// apps/editor/src/update/undo/chosen.rs|select_changes.rs
/// apps/editor/src/update/undo/one_change.rs|undo_out_of_order.rs
/// apps/editor/src/update/undo/unseen.rs|unseen_changes.rs
/// apps/editor/src/update/search/words.rs|search_summary.rs
/// apps/editor/src/update/search/markup.rs|markdown_prose.rs
/// apps/editor/src/update/search/uses.rs|find_references.rs
/// apps/editor/src/update/search/shown_lines.rs|mark_seen.rs
/// apps/editor/src/update/symbols/place.rs|insertion_point.rs
/// apps/editor/src/update/symbols/resolved.rs|resolve_result.rs
/// apps/editor/src/update/symbols/users.rs|importing_files.rs
/// apps/editor/src/update/symbols/surroundings.rs|context_lines.rs
/// apps/editor/src/update/symbols/arranging.rs|move_items.rs
/// apps/editor/src/update/symbols/deleting.rs|delete_items.rs
/// apps/editor/src/update/symbols/asked_symbol.rs|symbol_question.rs
/// apps/editor/src/display/wording.rs|pluralize.rs apps/memotree/src/freshness.rs|stale_check.rs
/// apps/memotree/src/timing.rs|source_timings.rs apps/memotree/store/src/stamp.rs|file_stamp.rs
/// apps/memotree/store/src/order.rs|order_key.rs
/// apps/memotree/store/src/index/place.rs|tree_position.rs
/// apps/memotree/store/src/actions/place.rs|node_position.rs
/// apps/memotree/store/src/node_file/take_back.rs|revert_change.rs
/// apps/memotree/store/src/store/take_back.rs|revert_change.rs
/// apps/notebook/src/rows_input.rs|import_rows.rs apps/notebook/src/block.rs|budgeted_block.rs
/// apps/notebook/src/undo_path.rs|undo_dependencies.rs apps/planner/src/players.rs|driver_turns.rs
/// apps/planner/src/speak.rs|reader_turns.rs apps/planner/src/prior.rs|earlier_plan.rs
/// apps/planner/src/seen.rs|shown_versions.rs apps/planner/src/verdicts.rs|check_report_text.rs
/// apps/planner/src/cites.rs|citations.rs apps/planner/src/strict.rs|strict_json.rs
/// apps/planner/src/frame.rs|translations.rs apps/planner/src/calls.rs|call_templates.rs
/// apps/planner/src/page.rs|view_writer.rs apps/planner/src/outcome.rs|reply.rs
/// apps/planner/src/report.rs|check_report.rs apps/planner/src/check.rs|acceptance_check.rs
/// apps/planner/src/workers.rs|driver_threads.rs apps/planner/src/trust.rs|config_trust.rs
/// apps/planner/src/nodes.rs|memotree_export.rs apps/planner/src/reader.rs|participant.rs
/// apps/planner/course/src/why.rs|progress_hint.rs apps/planner/course/src/begin.rs|start_topic.rs
/// apps/planner/course/src/control.rs|user_control.rs
/// apps/planner/course/src/edits.rs|manual_edits.rs
/// apps/planner/course/src/meeting.rs|clarification_meeting.rs
/// apps/planner/course/src/ordered.rs|json_order.rs
/// apps/planner/course/src/payload.rs|turn_payload.rs
/// apps/planner/course/src/record.rs|transcript.rs (journal is `event.rs`; the record is what was
/// said) apps/planner/course/src/signing.rs|consensus.rs
/// apps/planner/course/src/quality.rs|plan_completeness.rs
/// apps/planner/course/src/lang.rs|language.rs apps/publish/src/late.rs|late_writes.rs
/// apps/publish/src/leftovers.rs|stale_staging.rs
/// apps/publish/src/private.rs|protected_directories.rs
/// apps/publish/src/replace.rs|atomic_replace.rs apps/publish/src/attributes.rs|file_metadata.rs
/// apps/shared/patch/src/nearest.rs|closest_match.rs
/// apps/shared/patch/src/matching.rs|line_match.rs apps/shared/patch/src/parse/body.rs|hunk_body.rs
/// apps/shared/snapshots/src/untaken.rs|uncaptured_changes.rs
/// apps/shared/snapshots/src/put_back.rs|restore.rs
/// apps/shared/snapshots/src/modes.rs|file_modes.rs
/// apps/shared/search/src/counts.rs|match_counts.rs apps/shared/syntax/src/arrange.rs|move_items.rs
/// (arrange/ → move_items/) apps/shared/syntax/src/extract/control.rs|control_flow.rs
/// apps/shared/syntax/src/extract/layout.rs|format.rs
/// apps/shared/syntax/src/imports/needs.rs|required_imports.rs
/// apps/shared/syntax/src/imports/users.rs|importers.rs
/// apps/shared/syntax/src/imports/compose.rs|compose_edits.rs
/// apps/shared/syntax/src/imports/lists.rs|edit_imports.rs
/// apps/shared/syntax/src/imports/modules.rs|python_modules.rs
/// apps/shared/syntax/src/imports/specifiers.rs|es_specifiers.rs
/// apps/shared/syntax/src/outline/declared.rs|declaring_nodes.rs
/// apps/shared/syntax/src/outline/extent.rs|symbol_range.rs
/// apps/shared/syntax/src/outline/reading.rs|symbol_parts.rs
/// apps/shared/syntax/src/rename/judge.rs|classify_occurrence.rs
/// apps/shared/syntax/src/rename/facts.rs|file_facts.rs
/// apps/shared/syntax/src/rename/meaning.rs|resolution.rs
/// apps/shared/syntax/src/rename/locals.rs|shadowing.rs apps/terminal/src/order.rs|command_spec.rs
/// apps/terminal/src/orders.rs|parse_call.rs apps/terminal/src/members.rs|process_group.rs
/// apps/terminal/src/places.rs|problem_locations.rs apps/terminal/src/permit.rs|run_permit.rs
/// apps/terminal/src/spill.rs|output_file.rs
/// apps/terminal/src/answer/rest.rs|unrecognised_output.rs
/// apps/terminal/src/answer/refused.rs|sandbox_denials.rs
/// apps/terminal/src/answer/plain.rs|plain_output.rs apps/terminal/src/answer/brief.rs|verdict.rs
/// apps/terminal/src/job/work.rs|job_threads.rs apps/terminal/src/job/ended.rs|job_result.rs
/// apps/terminal/src/job/control.rs|signals_and_input.rs
/// apps/terminal/src/file_changes/saved.rs|saved_changes.rs
/// apps/terminal/src/file_changes/sessions.rs|other_sessions.rs
/// apps/terminal/confine/src/domain.rs|landlock_domain.rs
/// apps/terminal/confine/src/launch.rs|confined_exec.rs
/// apps/terminal/confine/src/mode.rs|confinement_support.rs
/// apps/terminal/problems/src/inert.rs|sanitize.rs
/// apps/terminal/problems/src/lines.rs|line_splitter.rs
/// apps/terminal/problems/src/compare.rs|compare_runs.rs tests/src/left_out.rs|(look: not read)
pub fn texts_apart(code: &str, text_max: usize, code_max: usize) -> Vec<(String, bool)> {
    let mut parts: Vec<(String, bool)> = Vec::new();
    let mut written = String::new();
    let mut lexer = Lexer::new(code);
    let mut gap = "";
    loop {
        let from = lexer.at;
        let rest = || code.get(from..).unwrap_or_default().trim().to_owned();
        let Ok(token) = lexer.token() else {
            return finish(parts, written, rest(), text_max);
        };
        let length = written.len()
            + parts.iter().map(|(text, apart)| if *apart { 0 } else { text.len() }).sum::<usize>();
        if token.kind != TokenKind::End && length > code_max {
            return finish(parts, written, rest(), 0);
        }
        match token.kind {
            TokenKind::End => return finish(parts, written, String::new(), text_max),
            TokenKind::Newline => {
                gap = if written.is_empty() && parts.is_empty() { "" } else { " " };
                continue;
            }
            TokenKind::Sign(')' | ']' | '}' | '(' | ',' | ';' | '=' | ':') => {}
            _ => written.push_str(gap),
        }
        gap = "";
        let source = code.get(token.span.start..token.span.end).unwrap_or_default();
        let text = match token.kind {
            TokenKind::Text(text) => text,
            TokenKind::Quoted(quoted) => quoted.text.unwrap_or(quoted.raw),
            TokenKind::Sign(',') => {
                written.push(',');
                gap = " ";
                continue;
            }
            TokenKind::Sign(';') => {
                written.push(';');
                gap = " ";
                continue;
            }
            _ => {
                written.push_str(source);
                continue;
            }
        };
        if text.len() > text_max {
            parts.push((std::mem::take(&mut written), false));
            parts.push((text, true));
        } else if source.starts_with('<') {
            written.push_str(&format!("{text:?}"));
        } else {
            written.push_str(source);
        }
    }
}

fn finish(
    mut parts: Vec<(String, bool)>,
    mut written: String,
    rest: String,
    text_max: usize,
) -> Vec<(String, bool)> {
    let long = rest.len() > text_max;
    if !rest.is_empty() && !long {
        let gap = if written.is_empty() { "" } else { " " };
        written.push_str(&format!("{gap}{rest}"));
    }
    if !written.is_empty() {
        parts.push((written, false));
    }
    if long {
        parts.push((rest, true));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: &str) -> String {
        let part = |(text, apart): (String, bool)| match apart {
            true => format!("⟨{}⟩", text.len()),
            false => text,
        };
        texts_apart(code, 8, 40).into_iter().map(part).collect()
    }

    #[test]
    fn long_texts_stand_apart_from_calls() {
        assert_eq!(shown("notes.add('short', 'much longer')"), "notes.add('short', ⟨11⟩)");
        assert_eq!(
            shown("a.b(x=1,\n  y=\"\"\"a text of 3 lines\"\"\");\nc()"),
            "a.b(x=1, y=⟨17⟩); c()"
        );
        assert_eq!(shown("a.b(<<END)\nthe long body\nEND\nc(<<E)\nab\nE\n"), "a.b(⟨13⟩) c(\"ab\")");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn text_that_is_no_code_and_code_that_is_too_long_are_reported_apart() {
        assert_eq!(shown("yes"), "yes");
        assert_eq!(shown("a.b('no end of this text"), "a.b(⟨20⟩");
        let many = "a(1); ".repeat(20);
        assert!(shown(&many).ends_with('⟩') && shown(&many).len() < 80, "{}", shown(&many));
    }
}
