import { queryOptions } from "@tanstack/react-query";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { call } from "./ask.ts";

/** Who this browser is signed in as, and how one can sign in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => call(signInEndpoints.session, {}, signal),
  // Somebody may have signed in or out in another tab.
  refetchOnWindowFocus: true,
});
