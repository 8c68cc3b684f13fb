import { z } from "zod";
import {
  appAnswer,
  deliveryAnswer,
  hookConfigAnswer,
  installationAnswer,
  tokenAnswer,
} from "../app-answers.ts";
import { installationId } from "../fake-state.ts";
import { bodyOf, Refusal, type Route, repositoryOf } from "./route.ts";

const Requested = z
  .object({
    repositories: z.array(z.string()).optional(),
    permissions: z.record(z.string(), z.string()).optional(),
  })
  .nullish();

/** The lifetime of GitHub's installation tokens. */
const tokenMs = 3_600_000;

/** Requests with the app's own token. */
export const appRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/app",
    by: "app",
    handle: ({ state }) => ({ status: 200, body: appAnswer(state) }),
  },
  {
    method: "GET",
    path: "/app/hook/config",
    by: "app",
    handle: ({ state }) => ({ status: 200, body: hookConfigAnswer(state) }),
  },
  {
    method: "GET",
    path: "/app/installations",
    by: "app",
    handle: ({ state }) => ({
      status: 200,
      list: [
        ...new Set(
          [...state.repositories.values()].filter((one) => one.isInstalled).map((one) => one.owner),
        ),
      ].map((owner) => () => installationAnswer(state, owner)),
    }),
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/installation",
    by: "app",
    handle(call) {
      const repository = repositoryOf(call);
      if (!repository.isInstalled) throw new Refusal(404, "Not Found");
      return { status: 200, body: installationAnswer(call.state, repository.owner) };
    },
  },
  {
    method: "POST",
    path: "/app/installations/{installation_id}/access_tokens",
    by: "app",
    handle(call) {
      const { state, parameters } = call;
      const installed = [...state.repositories.values()].find(
        (one) =>
          one.isInstalled &&
          installationId(state, one.owner) === Number(parameters["installation_id"]),
      );
      if (installed === undefined) throw new Refusal(404, "Not Found");
      const asked = bodyOf(Requested, call);
      const permissions = asked?.permissions ?? state.permissions;
      for (const name of Object.keys(permissions))
        if (state.permissions[name] === undefined)
          throw new Refusal(422, "The permissions requested are not granted to this installation.");
      const token = `ghs_${state.nextId()}${Math.floor(state.draw() * 1e15)}`;
      const expiresAt = new Date(state.now().getTime() + tokenMs);
      state.tokens.set(token, {
        owner: installed.owner,
        expiresAt,
        permissions,
        repositories: asked?.repositories,
      });
      return { status: 201, body: tokenAnswer(token, expiresAt, permissions) };
    },
  },
  {
    method: "GET",
    path: "/app/hook/deliveries",
    by: "app",
    handle({ state, query }) {
      const perPage = Math.min(Number(query.get("per_page") ?? 30), 100);
      const cursor = query.get("cursor");
      const newest = state.deliveries.filter((one) => one.isListed).reverse();
      const older = cursor === null ? newest : newest.filter((one) => one.id < BigInt(cursor));
      const page = older.slice(0, perPage);
      const last = page.at(-1);
      const next = `${state.url}/app/hook/deliveries?per_page=${perPage}&cursor=${last?.id}`;
      return {
        status: 200,
        body: page.map(deliveryAnswer),
        ...(older.length > perPage ? { link: `<${next}>; rel="next"` } : {}),
      };
    },
  },
  {
    method: "POST",
    path: "/app/hook/deliveries/{delivery_id}/attempts",
    by: "app",
    handle({ webhooks, parameters }) {
      const id = parameters["delivery_id"] ?? "";
      if (!/^[0-9]+$/.test(id) || !webhooks.again(BigInt(id))) throw new Refusal(404, "Not Found");
      return { status: 202, body: {} };
    },
  },
];
