import { useQuery } from "@tanstack/react-query";
import type { AccessSetting } from "#core/access-setting.ts";
import { sessionQuery } from "../../farm/session.ts";

const meaning: Readonly<Record<AccessSetting, string>> = {
  open: "This farm is open: anyone who can reach it may do everything.",
  public: "This farm is public: anyone who can reach it may read.",
  private: "This farm is private: you need a right to read.",
};

/** What callers without a token may do. Empty until the server has answered. */
export function FarmAccess() {
  const { data } = useQuery(sessionQuery);
  return data === undefined ? null : <p className="faint">{meaning[data.access]}</p>;
}
