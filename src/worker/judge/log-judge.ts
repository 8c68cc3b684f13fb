import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import type { OutcomeRules } from "#core/outcome-rules.ts";
import { FindingsSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import { LineCutter, type SeenLine } from "./line-cutter.ts";
import { RuleJudge } from "./rule-judge.ts";
import { type Ended, type RuledVerdict, verdictBy } from "./verdict.ts";

/** After this time the worker's heartbeats and other logs get their turn. */
const turnMs = 20;

interface Judgement extends RuledVerdict {
  /** A packed `grange.worker.v1.Findings`, which is sent with the result. */
  readonly findings: Any;
}

/** Judges the log of one execution while it is printed. */
export class LogJudge {
  readonly #rules: OutcomeRules;
  readonly #judge: RuleJudge;
  readonly #cutter = new LineCutter();
  #turnAt = performance.now() + turnMs;

  constructor(rules: OutcomeRules) {
    this.#rules = rules;
    this.#judge = new RuleJudge(rules);
  }

  /** Takes the next bytes of the log; the reader waits for this, so memory stays bounded. */
  async hear(bytes: Uint8Array): Promise<void> {
    await this.#look(this.#cutter.push(bytes));
  }

  /**
   * Called after the last bytes.
   *
   * @param stored returns the number under which the log stores a line: the middle of a long log is left out
   */
  async conclude(ended: Ended, stored = (line: number) => line): Promise<Judgement> {
    await this.#look(this.#cutter.end());
    const { seen } = this.#judge;
    const verdict = verdictBy(this.#rules, seen, ended);
    const numbers = [...seen.numbers].flatMap(([name, { value }]) =>
      value === undefined ? [] : [{ name, value, ...limitsOf(this.#rules.numbers?.[name]) }],
    );
    const findings = create(FindingsSchema, {
      failureClass: verdict.failureClass ?? "",
      errorLines: seen.errors.map(({ number, text }) => ({ line: BigInt(stored(number)), text })),
      numbers,
    });
    return { ...verdict, findings: anyPack(FindingsSchema, findings) };
  }

  async #look(lines: readonly SeenLine[]): Promise<void> {
    for (const line of lines) {
      this.#judge.look(line);
      if (performance.now() < this.#turnAt) continue;
      await setImmediate();
      this.#turnAt = performance.now() + turnMs;
    }
  }
}

function limitsOf(
  rule: { readonly min?: number | undefined; readonly max?: number | undefined } | undefined,
) {
  return {
    ...(rule?.min === undefined ? {} : { min: rule.min }),
    ...(rule?.max === undefined ? {} : { max: rule.max }),
  };
}
