import type { Answer, Lookup, ToolRules } from "./tool-rules.ts";

/** Without a charset: Nx compares the type letter by letter. So our own texts are ASCII only. */
export function textAnswer(status: number, text: string): Answer {
  return {
    status,
    headers: { "content-type": "text/plain" },
    body: text === "" ? "" : `${text}\n`,
  };
}

export function jsonAnswer(status: number, value: unknown): Answer {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
  };
}

export function notAllowed(method: string, allowed: string): Answer {
  const { headers, ...rest } = textAnswer(
    405,
    `${method} is not supported here; supported are ${allowed}`,
  );
  return { ...rest, headers: { ...headers, allow: allowed } };
}

/** Returns the meaning of a method for a key that may be overwritten, among the tool's methods. */
export function plainLookup(method: string, key: string, allowed: readonly string[]): Lookup {
  if (allowed.includes(method)) {
    if (method === "GET" || method === "HEAD") return { kind: "read", key };
    if (method === "PUT") return { kind: "write", key, attributes: {}, again: "replace" };
    if (method === "DELETE") return { kind: "remove", key };
  }
  return { kind: "answer", answer: notAllowed(method, allowed.join(", ")) };
}

/** The common rules of tools that only check the status. */
export const plainRules: Omit<ToolRules, "lookupOf"> = {
  hitHeaders: () => ({}),
  written: () => textAnswer(200, ""),
  removed: (existed) => (existed ? { status: 204 } : textAnswer(404, "there is no such entry")),
  refused: ({ status, message }) => textAnswer(status, message),
  isFragile: false,
};
