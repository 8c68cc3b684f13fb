import { queryOptions } from "@tanstack/react-query";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { call } from "./ask.ts";
import { sessionInPage } from "./session-in-page.ts";

const loadedAt = Date.now();

/** The signed-in principal of this browser, and the ways to sign in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => call(signInEndpoints.session, {}, signal),
  initialData: sessionInPage,
  initialDataUpdatedAt: loadedAt,
  // The user may have signed in or out in another tab.
  refetchOnWindowFocus: true,
});
