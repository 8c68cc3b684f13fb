import { catalogEndpoints } from "#api/endpoints/catalog-endpoints.ts";
import type { ApiClient } from "../api/api-client.ts";
import { ApiFailure } from "../api/api-failure.ts";

/** Sets, for all branches of the demo project, whether the workers here have a C compiler. */
export async function setCompilerSwitch(
  api: ApiClient,
  repository: string,
  hasCompiler: boolean,
): Promise<void> {
  const known = await api
    .call(catalogEndpoints.branches, { params: { repository } })
    .catch((reason: unknown) => {
      // A repository that is unknown to the farm needs no change.
      if (reason instanceof ApiFailure && reason.code === "not_found") return [];
      throw reason;
    });
  const all = known.find(({ branch }) => branch === "*");
  const own = all?.own ?? {};
  if ((own.switches?.["cc"] ?? false) === hasCompiler) return;
  await api.call(catalogEndpoints.setBranch, {
    params: { repository, branch: "*" },
    body: {
      body: { ...own, switches: { ...own.switches, cc: hasCompiler } },
      why: hasCompiler ? "this machine has a C compiler" : "this machine has no C compiler",
    },
  });
}
