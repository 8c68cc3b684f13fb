import { queryOptions } from "@tanstack/react-query";
import { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { sessionEndpoints } from "#api/endpoints/session-endpoints.ts";
import { SignedIn, SignInAddress } from "#api/session.ts";
import { call, tell } from "../../farm/ask.ts";

/** What whoever looks at the page may do. */
export const callerQuery = queryOptions({
  queryKey: ["caller"],
  queryFn: ({ signal }) => call(accessEndpoints.caller, {}, signal),
});

/** Browsers that are signed in: the own ones, or all for who administers. */
export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => call(sessionEndpoints.sessions, {}, signal),
});

export const signInWithToken = (token: string) => tell(SignedIn, "/session/token", { token });
export const signInWithCode = (code: string) => tell(SignedIn, "/session/code", { code });
export const signInAddress = (returnTo: string) =>
  tell(SignInAddress, "/session/provider", { returnTo });
export const signOut = () => call(sessionEndpoints.signOut, {});
export const endSession = (id: string) =>
  call(sessionEndpoints.endSession, { params: { session: id } });
