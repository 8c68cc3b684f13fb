import { queryOptions } from "@tanstack/react-query";
import { SessionStanding } from "#api/session.ts";
import { ask } from "./ask.ts";

/** Who this browser is signed in as, and how one can sign in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => ask(SessionStanding, "/session", { signal }),
  // Somebody may have signed in or out in another tab.
  refetchOnWindowFocus: true,
});
