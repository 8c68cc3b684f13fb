import { request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import { serveRepositories } from "#git/http-backend.fixture.ts";
import type { FakeState } from "./fake-state.ts";

/** Serves clones over HTTP, private repositories only with a token of the app. */
export async function gitServer(state: FakeState, root: string) {
  const backend = await serveRepositories(root);
  const inner = new URL(backend.urlOf(root));

  const mayRead = (slug: string, authorization: string | undefined): boolean => {
    const repository = state.repositories.get(slug.toLowerCase());
    if (repository?.git === undefined) return false;
    if (!repository.isPrivate) return true;
    const [, encoded = ""] = /^basic (.+)$/i.exec(authorization ?? "") ?? [];
    const [name, token = ""] = Buffer.from(encoded, "base64").toString().split(":");
    const known = state.tokens.get(token);
    return (
      name === "x-access-token" &&
      known !== undefined &&
      known.owner === repository.owner &&
      known.expiresAt > state.now() &&
      known.permissions["contents"] !== undefined &&
      known.repositories?.includes(repository.name) !== false
    );
  };

  return {
    isMine: (path: string) => /^\/[^/]+\/[^/]+\.git\//.test(path),
    handle(request: IncomingMessage, response: ServerResponse): void {
      const slug = /^\/([^/]+\/[^/]+)\.git\//.exec(request.url ?? "")?.[1] ?? "";
      if (!mayRead(slug, request.headers.authorization)) {
        request.resume();
        response.writeHead(401, { "www-authenticate": 'Basic realm="GitHub"' });
        response.end("Repository not found.");
        return;
      }
      const { authorization: _checked, ...headers } = request.headers;
      const onward = ask(
        {
          host: inner.hostname,
          port: inner.port,
          path: request.url,
          method: request.method,
          headers,
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on("error", () => response.destroy());
      request.pipe(onward);
    },
    stop: () => backend.stop(),
  };
}
