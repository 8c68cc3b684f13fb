import { type Sql, sql } from "#db/sql.ts";

/**
 * Returns a condition: a graph is in progress, or something is due by then.
 *
 * A graph whose unfinished jobs all wait for a person, a time, or each other is not in progress: it continues with a
 * request, which notifies, or when something is due.
 */
export function hasGraphWorkBy(by: Date): Sql {
  return sql`
    exists (
      select from graph
      where state = 'running'
        and (cancel_asked_at is not null or not counts ? 'waiting' or counts ?| array['ready', 'queued', 'running']))
      or exists (
        select from run
        where state <> 'finished' and served_by = 'farm' and due_at is not null and due_at <= ${by})
      or exists (
        select from job
        where expires_at is not null and expires_at <= ${by}
          and state in ('blocked', 'unreachable', 'ready', 'queued', 'waiting'))
  `;
}
