import { TargetState } from "#api/invocation-targets.ts";
import { Fault } from "#core/fault.ts";

interface Sortable {
  readonly state: TargetState;
  readonly label: string;
  readonly aspect: string;
  readonly kind: string;
}

interface Wanted {
  readonly state: TargetState | undefined;
  /** A part of the label or the kind. */
  readonly text: string | undefined;
  /** The `next` of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Returns the targets that pass a filter, counted, and a page of them: the worst states first, then by label. */
export function pageOfTargets<Target extends Sortable>(
  targets: readonly Target[],
  { state, text = "", after, limit }: Wanted,
): { readonly count: number; readonly page: Target[]; readonly next: string | null } {
  const words = text.toLowerCase();
  const passing = targets
    .filter(
      (target) =>
        (state === undefined || target.state === state) &&
        `${target.label} ${target.aspect} ${target.kind}`.toLowerCase().includes(words),
    )
    .map((target) => ({ target, key: keyOf(target) }))
    .toSorted((a, b) => compareKeys(a.key, b.key));
  const from = after === undefined ? undefined : parseCursor(after);
  const rest =
    from === undefined ? passing : passing.filter(({ key }) => compareKeys(key, from) > 0);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    count: passing.length,
    page: page.map(({ target }) => target),
    next: last === undefined || page.length === rest.length ? null : formatCursor(last.key),
  };
}

type Key = readonly [rank: number, label: string, aspect: string];

function keyOf({ state, label, aspect }: Sortable): Key {
  return [TargetState.options.indexOf(state), label, aspect];
}

function compareKeys(a: Key, b: Key): number {
  for (const [n, one] of a.entries()) {
    const other = b[n] ?? one;
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

const formatCursor = (key: Key) => Buffer.from(JSON.stringify(key)).toString("base64url");

/** Throws `invalid_argument` for a text that is not a cursor. */
function parseCursor(text: string): Key {
  try {
    const read: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (Array.isArray(read) && read.length === 3) {
      const [rank, label, aspect] = read as readonly unknown[];
      if (typeof rank === "number" && typeof label === "string" && typeof aspect === "string")
        return [rank, label, aspect];
    }
  } catch {
    // Not JSON: refused below.
  }
  throw new Fault("invalid_argument", "`after` must be the `next` of the previous list of targets");
}
