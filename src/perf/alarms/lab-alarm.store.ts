import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** An event that is reported to the operator of a lab. */
type LabAlarm =
  | { readonly kind: "collector-silent"; readonly collector: string }
  | { readonly kind: "collector-out-of-duty"; readonly collector: string; readonly why: string };

/** How long the farm tries to send an alarm. */
const sendHours = 24;

/** Stores alarms for sending, in the transaction that found them. */
export async function keepAlarms(tx: Tx, alarms: readonly LabAlarm[], now: Date): Promise<void> {
  for (const alarm of alarms) {
    const id = randomUUID();
    const body = { id, at: now.toISOString(), ...alarm, sentence: alarmSentence(alarm) };
    await tx.run(sql`
      insert into benchmark_alarm (id, body, state, next_at, give_up_at, created_at)
      values (${id}, ${JSON.stringify(body)}::jsonb, 'pending', ${now},
              ${now}::timestamptz + make_interval(hours => ${sendHours}), ${now})
    `);
  }
}

const DueAlarm = z.object({
  id: z.uuid(),
  body: z.record(z.string(), z.unknown()),
  /** Including this attempt. */
  attempts: z.number(),
  giveUpAt: z.date(),
});
export type DueAlarm = z.infer<typeof DueAlarm>;

/**
 * Takes due alarms. No other server takes them before `until`; when this server dies, another one sends them after
 * that.
 */
export function takeAlarms(tx: Tx, now: Date, until: Date, most: number): Promise<DueAlarm[]> {
  return tx.many(
    DueAlarm,
    sql`
      with due as (
        select id from benchmark_alarm
        -- Older ones were never tried, because there was no webhook. They are too old to be sent.
        where state = 'pending' and next_at <= ${now} and give_up_at > ${now}
        order by next_at
        limit ${most}
        for update skip locked
      )
      update benchmark_alarm set next_at = ${until}, attempts = attempts + 1
      from due where benchmark_alarm.id = due.id
      returning benchmark_alarm.id, body, attempts, give_up_at as "giveUpAt"
    `,
  );
}

/** The outcome of an attempt to send an alarm. */
export type AfterSending =
  | { readonly state: "delivered" }
  | { readonly state: "pending"; readonly at: Date; readonly problem: string }
  | { readonly state: "failed"; readonly problem: string };

/**
 * Stores the result of a delivery. `attempts` identifies the delivery: a late result of a slow server changes nothing.
 */
export async function settleAlarm(
  tx: Tx,
  { id, attempts }: Pick<DueAlarm, "id" | "attempts">,
  after: AfterSending,
): Promise<void> {
  await tx.run(sql`
    update benchmark_alarm
    set state = ${after.state}, next_at = ${after.state === "pending" ? after.at : null},
        problem = ${after.state === "delivered" ? null : after.problem}
    where id = ${id} and state = 'pending' and attempts = ${attempts}
  `);
}

/** Deletes old alarms. */
export function deleteOldAlarms(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`delete from benchmark_alarm where created_at < ${before}`);
}

/** Returns the message of an alarm: what happened, and what to do. */
function alarmSentence(alarm: LabAlarm): string {
  const { collector } = alarm;
  switch (alarm.kind) {
    case "collector-silent":
      return `Collector ${collector} went silent: start it again on its machine, or take it out with \`grange collector set ${collector} --inactive\`.`;
    case "collector-out-of-duty":
      return `Collector ${collector} gets no work: ${alarm.why}. After the repair: grange collector set ${collector} --in-duty`;
  }
}
