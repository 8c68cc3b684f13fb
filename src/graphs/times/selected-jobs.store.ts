import type { Selection, WordPattern } from "#api/selection/selection.ts";
import { type Sql, sql } from "#db/sql.ts";

/**
 * A selection as a condition on the table `job`, equal to `matches` in #api/selection.
 *
 * For counting in the database; code that has the jobs in memory calls `matches`.
 */
export function selectedJobs(selection: Selection): Sql {
  switch (selection.op) {
    case "and":
      return selection.parts
        .map(selectedJobs)
        .reduce((all, part) => sql`(${all} and ${part})`, sql`true`);
    case "or":
      return selection.parts
        .map(selectedJobs)
        .reduce((any, part) => sql`(${any} or ${part})`, sql`false`);
    case "not":
      return sql`(not ${selectedJobs(selection.part)})`;
    case "word": {
      const like = likePattern(selection.pattern);
      return sql`(job.name like ${like} or exists (
        select from jsonb_each_text(job.tags) as tag
        where tag.value like ${like} or tag.value = 'true' and tag.key like ${like}))`;
    }
    case "key": {
      const like = likePattern(selection.pattern);
      switch (selection.key) {
        case "name":
          return sql`(job.name like ${like})`;
        case "state":
          return sql`(job.state like ${like})`;
        case "kind":
          return sql`(coalesce(job.tags ->> 'kind', job.kind) like ${like})`;
        default:
          return sql`(coalesce(job.tags ->> ${selection.key}::text like ${like}, false))`;
      }
    }
  }
}

function likePattern(pattern: WordPattern): string {
  return pattern.map((part) => part.replace(/[\\%_]/g, "\\$&")).join("%");
}
