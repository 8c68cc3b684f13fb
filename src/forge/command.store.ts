import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { notifyForge } from "./repository.store.ts";

const Command = z.object({
  repository: z.string(),
  /** The forge's number of the comment. */
  id: z.string(),
  pull: z.number(),
  author: z.string(),
  /** The line with the command. */
  command: z.string(),
  /** The pull request's head at the time when the comment was read. */
  head: z.string(),
  /** The time since which it was the head; null when it may be newer than the comment. */
  headSeenAt: z.date().nullable(),
  /** Whether it was changed between writing and reading. */
  edited: z.boolean(),
  createdAt: z.date(),
  attempts: z.number(),
});
export type WaitingCommand = z.infer<typeof Command>;

/** Stores a command as first read; an existing one stays. */
export async function insertCommand(
  tx: Tx,
  command: Omit<WaitingCommand, "attempts">,
  now: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into forge_comment (repository, id, pull, author, command, head, head_seen_at, edited,
                               created_at, next_at)
    values (${command.repository}, ${command.id}, ${command.pull}, ${command.author}, ${command.command},
            ${command.head}, ${command.headSeenAt}, ${command.edited}, ${command.createdAt}, ${now})
    on conflict do nothing
  `);
  if (inserted > 0) await notifyForge(tx);
  return inserted > 0;
}

/** Leases the command that has waited longest; commands of one pull request run in their order, one at a time. */
export async function leaseCommand(
  tx: Tx,
  now: Date,
  until: Date,
): Promise<WaitingCommand | undefined> {
  const [leased] = await tx.many(
    Command,
    sql`
      update forge_comment as c set leased_until = ${until}, attempts = c.attempts + 1
      from (
        select repository, id from forge_comment as first
        where state = 'waiting' and next_at <= ${now} and (leased_until is null or leased_until <= ${now})
          and not exists (
            select from forge_comment as before
            where before.repository = first.repository and before.pull = first.pull
              and before.state = 'waiting' and (before.created_at, before.id) < (first.created_at, first.id))
        order by next_at limit 1 for update skip locked
      ) as next
      where c.repository = next.repository and c.id = next.id
      returning c.repository, c.id, c.pull, c.author, c.command, c.head,
        c.head_seen_at as "headSeenAt", c.edited, c.created_at as "createdAt", c.attempts
    `,
  );
  return leased;
}

/** Ends a command; only its latest lease may do so. */
export async function endCommand(
  tx: Tx,
  { repository, id, attempts }: WaitingCommand,
  { state, answer }: { readonly state: "done" | "refused"; readonly answer: string },
): Promise<boolean> {
  const ended = await tx.run(sql`
    update forge_comment set state = ${state}, answer = ${answer}, leased_until = null, error = null
    where repository = ${repository} and id = ${id} and state = 'waiting' and attempts = ${attempts}
  `);
  return ended > 0;
}

export async function postponeCommand(
  tx: Tx,
  { repository, id, attempts }: WaitingCommand,
  error: string,
  nextAt: Date,
): Promise<void> {
  await tx.run(sql`
    update forge_comment set leased_until = null, next_at = ${nextAt}, error = ${error}
    where repository = ${repository} and id = ${id} and state = 'waiting' and attempts = ${attempts}
  `);
}
