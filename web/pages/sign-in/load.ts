import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { ListedSession, SignedIn, SignInAddress } from "#api/session.ts";
import { ask, call, tell } from "../../farm/ask.ts";

/** What whoever looks at the page may do. */
export const callerQuery = queryOptions({
  queryKey: ["caller"],
  queryFn: ({ signal }) => call(accessEndpoints.caller, {}, signal),
});

/** Browsers that are signed in: the own ones, or all for who administers. */
export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => ask(z.array(ListedSession), "/sessions", { signal }),
});

export const signInWithToken = (token: string) => tell(SignedIn, "/session/token", { token });
export const signInWithCode = (code: string) => tell(SignedIn, "/session/code", { code });
export const signInAddress = (returnTo: string) =>
  tell(SignInAddress, "/session/provider", { returnTo });
export const signOut = () => tell(z.object({}), "/session/end");
export const endSession = (id: string) =>
  tell(ListedSession, `/sessions/${encodeURIComponent(id)}/end`);
