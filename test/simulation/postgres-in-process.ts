import { type PGlite, protocol } from "@electric-sql/pglite";
import pg from "pg";
import { columnTypes } from "#db/postgres.ts";
import { readMessages } from "./read-messages.ts";

/** The answer to one statement. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The rows that it changed or returned. */
  readonly count: number;
  /** `COMMIT`, `UPDATE`; empty for several statements at once. */
  readonly command: string;
}

interface Prepared {
  readonly name: string;
  /** A statement may fail after it was parsed. */
  isParsed: boolean;
  columns: readonly Column[] | undefined;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/**
 * The one connection of a PostgreSQL that runs as WebAssembly in this process.
 *
 * It answers synchronously: between two statements nothing else happens. Statements are prepared once, as node-postgres
 * does it for the farm, and their values are read in the same way.
 */
export class PostgresInProcess {
  readonly #pglite: PGlite;
  readonly #prepared = new Map<string, Prepared>();
  readonly #texts = new Set<string>();
  #names = 0;
  /** What was prepared when the snapshot was taken. */
  #kept: ReadonlyMap<string, Prepared> = new Map();
  readonly #notified: (channel: string, payload: string) => void;

  constructor(pglite: PGlite, notified: (channel: string, payload: string) => void) {
    this.#pglite = pglite;
    this.#notified = notified;
  }

  /** Runs a statement with values. @throws pg.DatabaseError */
  run(text: string, values: readonly unknown[]): Answer {
    this.#texts.add(text);
    const known = this.#prepared.get(text);
    const prepared = known ?? { name: `s${this.#names++}`, isParsed: false, columns: undefined };
    this.#prepared.set(text, prepared);
    const { serialize } = protocol;
    const messages = [
      ...(prepared.isParsed ? [] : [serialize.parse({ name: prepared.name, text })]),
      serialize.bind({ statement: prepared.name, values: values.map(asText) }),
      ...(prepared.columns === undefined ? [serialize.describe({ type: "P" })] : []),
      serialize.execute({}),
      serialize.sync(),
    ];
    return this.#exchange(Buffer.concat(messages), prepared);
  }

  /** The texts of all statements that were ever run with values. */
  statements(): string[] {
    return [...this.#texts];
  }

  /**
   * Parses and plans statements without running them, as if each table had its present size. What PostgreSQL prepares
   * later is forgotten by `forgetLater`.
   */
  prepare(texts: readonly string[]): void {
    this.#prepared.clear();
    for (const text of texts) {
      const name = `s${this.#names++}`;
      const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
      const { serialize } = protocol;
      const messages = [
        serialize.parse({ name, text }),
        // A statement is planned when it gets its values.
        serialize.bind({ statement: name, values: Array.from({ length: count }, () => null) }),
        serialize.describe({ type: "P" }),
        serialize.sync(),
      ];
      const prepared: Prepared = { name, isParsed: false, columns: undefined };
      try {
        this.#exchange(Buffer.concat(messages), prepared);
      } catch {
        // It is parsed again when it is run, or cannot have these values.
      }
      if (prepared.isParsed) this.#prepared.set(text, prepared);
    }
    this.#kept = new Map([...this.#prepared].map(([text, each]) => [text, { ...each }]));
  }

  /** Must be called when PostgreSQL was returned to its state after `prepare`. */
  forgetLater(): void {
    this.#prepared.clear();
    for (const [text, each] of this.#kept) this.#prepared.set(text, { ...each });
  }

  /** Runs statements without values. @throws pg.DatabaseError */
  script(text: string): Answer {
    return this.#exchange(protocol.serialize.query(text), undefined);
  }

  #exchange(message: Uint8Array, prepared: Prepared | undefined): Answer {
    const raw = withoutTimers(() => this.#pglite.execProtocolRawSync(message));
    let columns = prepared?.columns;
    let failure: Error | undefined;
    let command = "";
    let count = 0;
    const rows: Record<string, unknown>[] = [];
    readMessages(raw, (each) => {
      switch (each.kind) {
        case "parsed":
          if (prepared !== undefined) prepared.isParsed = true;
          break;
        case "columns":
          columns = each.columns.map(({ name, type }) => ({
            name,
            parse: columnTypes.getTypeParser(type, "text") as (text: string) => unknown,
          }));
          break;
        case "row": {
          const row: Record<string, unknown> = {};
          columns?.forEach(({ name, parse }, at) => {
            const text = each.fields[at];
            row[name] = text === null || text === undefined ? null : parse(text);
          });
          rows.push(row);
          break;
        }
        case "complete":
          command = each.tag.split(" ")[0] ?? "";
          count = Number(/\d+$/.exec(each.tag)?.[0] ?? 0);
          break;
        case "error": {
          const { M: message = "", C: code, n: constraint } = each.fields;
          failure ??= Object.assign(new pg.DatabaseError(message, message.length, "error"), {
            code,
            constraint,
          });
          break;
        }
        case "notification":
          this.#notified(each.channel, each.payload);
          break;
      }
    });
    if (failure !== undefined) throw failure;
    if (prepared !== undefined) prepared.columns = columns ?? [];
    return { rows, count, command };
  }
}

/** PostgreSQL sets alarms with `setTimeout`; here it does without them, because they depend on what ran before. */
function withoutTimers<T>(run: () => T): T {
  const timers = globalThis.setTimeout;
  globalThis.setTimeout = (() => 0) as unknown as typeof timers;
  try {
    return run();
  } finally {
    globalThis.setTimeout = timers;
  }
}

/** As node-postgres writes values. */
function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return arrayText(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function arrayText(values: readonly unknown[]): string {
  const parts = values.map((value) => {
    if (Array.isArray(value)) return arrayText(value);
    const text = asText(value);
    return text === null ? "NULL" : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  });
  return `{${parts.join(",")}}`;
}
