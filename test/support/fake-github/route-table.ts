import { appRoutes } from "./routes/app-routes.ts";
import { checkRoutes } from "./routes/check-routes.ts";
import { commentRoutes } from "./routes/comment-routes.ts";
import { graphqlRoute } from "./routes/graphql-route.ts";
import { repositoryRoutes } from "./routes/repository-routes.ts";
import type { Route } from "./routes/route.ts";

export const allRoutes: readonly Route[] = [
  ...appRoutes,
  ...repositoryRoutes,
  ...commentRoutes,
  ...checkRoutes,
  graphqlRoute,
];

const patterns = allRoutes.map((route) => ({
  route,
  names: [...route.path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? ""),
  // Only a ref contains slashes.
  pattern: new RegExp(
    `^${route.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => (name === "ref" ? "(.+)" : "([^/]+)"))}$`,
  ),
}));

export function findRoute(
  method: string,
  path: string,
): { readonly route: Route; readonly parameters: Readonly<Record<string, string>> } | undefined {
  for (const { route, names, pattern } of patterns) {
    const match = route.method === method ? pattern.exec(path) : null;
    if (match === null) continue;
    const parameters = Object.fromEntries(
      names.map((name, at) => [name, decodeURIComponent(match[at + 1] ?? "")]),
    );
    return { route, parameters };
  }
  return undefined;
}
