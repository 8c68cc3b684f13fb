import { Hono } from "hono";
import type { Logger } from "pino";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import { Fault } from "#core/fault.ts";
import { isOurHost } from "#core/host-guard.ts";
import { requestIdFrom, requestIdHeader } from "#core/request-id.ts";
import { retryAfterMsOf, retryAfterSeconds } from "#core/too-many-requests.ts";
import { holdsToken } from "#sign-in/token-in-address.ts";
import type { AllHandlers } from "../handlers/all-handlers.ts";
import type { ReadinessProbe } from "../health/readiness.ts";
import type { RequestLimits } from "../request-limits/request-limits.ts";
import type { Farm } from "./farm.ts";
import { faultToHttp } from "./fault-to-http.ts";
import { forgeWebhookRoutes } from "./forge-webhook-routes.ts";
import { healthRoutes } from "./health-routes.ts";
import { type IdentityIssuer, identityRoutes } from "./identity-routes.ts";
import { requireJson } from "./json-body.ts";
import { metricsRoutes } from "./metrics-routes.ts";
import type { ObjectFinders } from "./object-places.ts";
import { pageRoutes } from "./page-routes.ts";
import { authenticate } from "./principal.ts";
import type { Reading } from "./read-from-replica.ts";
import { serveEndpoints } from "./serve-endpoints.ts";
import { callbackRoutes, signInRoutes } from "./sign-in-routes.ts";

interface HttpAppOptions {
  readonly farm: Farm;
  readonly handlers: AllHandlers;
  /** Find the places of the objects that calls name. Without them, such calls fail. */
  readonly finders?: ObjectFinders;
  /** The databases of answers that may lag. Without them, such calls fail. */
  readonly reading?: Reading;
  readonly readiness: Pick<ReadinessProbe, "read">;
  readonly logger: Logger;
  readonly webDir: string | undefined;
  /** The address on which the server listens; requests for other hosts are refused. */
  readonly host: string;
  /** The farm as an issuer of identity tokens; it issues none when absent. */
  readonly identity?: IdentityIssuer;
  /** Whether the server itself speaks TLS only. */
  readonly isTls?: boolean;
  /** Without them, no request is too many. */
  readonly limits?: RequestLimits;
}

/** One year: during this time browsers use only TLS for this host. */
const hstsSeconds = 365 * 24 * 3_600;

/** The HTTP API under /api/v1, and the pages everywhere else. */
export function httpApp({
  farm,
  handlers,
  finders,
  reading,
  readiness,
  logger,
  webDir,
  host,
  identity,
  isTls = false,
  limits,
}: HttpAppOptions): Hono {
  const app = new Hono();
  const logsRequests = logger.isLevelEnabled("debug");

  // Before the host is checked, because probes use any address of the server.
  app.route("/", healthRoutes(readiness));
  app.use(async (c, next) => {
    c.set("requestId", requestIdFrom(c.req.header(requestIdHeader)));
    const begun = performance.now();
    if (!isOurHost(c.req.header("host"), host, farm.publicHost)) {
      throw new Fault(
        "permission_denied",
        "this server does not accept requests for this host name",
      );
    }
    if (holdsToken(c.req.url)) {
      throw new Fault(
        "invalid_argument",
        "the address holds a token, and addresses are kept in logs and histories: send it as `Authorization: Bearer`, and revoke this one",
      );
    }
    await next();
    // Not with `c.header`, which copies the complete response at each call; that costs more than all other work here.
    const { headers } = c.res;
    const requestId = c.get("requestId");
    headers.set(requestIdHeader, requestId);
    if (logsRequests) {
      const { method, path } = c.req;
      const ms = Math.round(performance.now() - begun);
      logger.debug({ requestId, method, path, status: c.res.status, ms }, "a request was answered");
    }
    headers.set("x-content-type-options", "nosniff");
    headers.set("referrer-policy", "same-origin");
    headers.set("x-frame-options", "DENY");
    if (isTls) headers.set("strict-transport-security", `max-age=${hstsSeconds}`);
    // Browsers and proxies must not use one principal's answer for another principal.
    if (c.req.path.startsWith("/api/") && !headers.has("cache-control"))
      headers.set("cache-control", "no-store");
    // Files of builds already have a stricter policy.
    if (headers.has("content-security-policy")) return;
    headers.set(
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  const api = new Hono();
  api.post("*", async (c, next) => {
    requireJson(c);
    await next();
  });
  api.route("/", signInRoutes(farm, limits));
  api.use(authenticate(farm));
  api.route(
    "/",
    serveEndpoints(allEndpoints, handlers, {
      ...(finders === undefined ? {} : { finders }),
      ...(reading === undefined ? {} : { reading }),
      ...(limits === undefined ? {} : { limits }),
    }),
  );
  api.all("*", (c) => {
    throw new Fault("not_found", `there is no ${c.req.method} ${c.req.path} in this API`);
  });

  app.route("/api/v1", api);
  app.route("/", callbackRoutes(farm, limits));
  app.route("/", forgeWebhookRoutes(farm));
  if (identity !== undefined) app.route("/", identityRoutes(identity));
  app.route("/", metricsRoutes(farm));
  app.route(
    "/",
    pageRoutes(webDir, (cookie) => farm.session(cookie)),
  );

  app.notFound((c) => {
    throw new Fault("not_found", `there is no ${c.req.method} ${c.req.path} here`);
  });
  app.onError((error, c) => {
    const { status, body } = faultToHttp(error);
    if (status === 401) c.header("www-authenticate", "Bearer");
    const retryAfterMs = retryAfterMsOf(error);
    if (retryAfterMs !== undefined) c.header("retry-after", retryAfterSeconds(retryAfterMs));
    // Undefined for requests to the routes before the middleware that sets it.
    const known: string | undefined = c.get("requestId");
    const requestId = known ?? requestIdFrom(undefined);
    c.header(requestIdHeader, requestId);
    if (status < 500) return c.json(body, status as 400);
    logger.error({ err: error, path: c.req.path, requestId }, "a request failed");
    // The log says what the answer leaves out; the id finds the line.
    return c.json({ error: { ...body.error, requestId } }, status as 500);
  });
  return app;
}
