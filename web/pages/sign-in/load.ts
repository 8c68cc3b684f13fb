import { queryOptions } from "@tanstack/react-query";
import { accessEndpoints } from "#api/endpoints/access-endpoints.ts";
import { sessionEndpoints } from "#api/endpoints/session-endpoints.ts";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { call } from "../../farm/ask.ts";

/** The rights of the user of the page. */
export const callerQuery = queryOptions({
  queryKey: ["caller"],
  queryFn: ({ signal }) => call(accessEndpoints.caller, {}, signal),
});

/** Signed-in browsers: the user's own, or all for an administrator. */
export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => call(sessionEndpoints.sessions, {}, signal),
});

export const signInWithToken = (token: string) =>
  call(signInEndpoints.signInWithToken, { body: { token } });
export const signInWithCode = (code: string) =>
  call(signInEndpoints.signInWithCode, { body: { code } });
export const signInAddress = (returnTo: string) =>
  call(signInEndpoints.beginSignIn, { body: { returnTo } });
export const signOut = () => call(sessionEndpoints.signOut, {});
export const endSession = (id: string) =>
  call(sessionEndpoints.endSession, { params: { session: id } });
