import type { ForgeFinding } from "../forge.ts";

export const ok = (what: string, detail: string): ForgeFinding => ({ what, state: "ok", detail });
export const wrong = (what: string, detail: string): ForgeFinding => ({
  what,
  state: "wrong",
  detail,
});
export const unknown = (what: string, detail: string): ForgeFinding => ({
  what,
  state: "unknown",
  detail,
});
