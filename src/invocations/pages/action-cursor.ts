import { Fault } from "#core/fault.ts";

/** The position at which a list of actions continues: after the action of this kind, at this time, with this key. */
export interface ActionCursor {
  readonly kind: "hit" | "operation";
  /** In microseconds since 1970, the precision of the database. */
  readonly micros: string;
  /** An action's digest, or an operation's id. */
  readonly key: string;
}

export function formatActionCursor({ kind, micros, key }: ActionCursor): string {
  return Buffer.from(`${kind} ${micros} ${key}`).toString("base64url");
}

/** Throws `invalid_argument` for a text that is not a cursor. */
export function parseActionCursor(text: string): ActionCursor {
  const written = Buffer.from(text, "base64url").toString();
  const [, kind, micros = "", key = ""] =
    /^(hit|operation) (\d{1,17}) ([\w./-]{1,300})$/.exec(written) ?? [];
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key);
  if ((kind === "hit" || kind === "operation") && (kind === "hit" || isId)) {
    return { kind, micros, key };
  }
  throw new Fault("invalid_argument", "`after` must be the `next` of the previous list of actions");
}
