import type { ApiClient } from "../api/api-client.ts";
import { ApiFailure } from "../api/api-failure.ts";
import { branchCalls } from "../api/catalog-calls.ts";

/** Says, for all branches of the demo project, whether the workers here have a C compiler. */
export async function setCompilerSwitch(
  api: ApiClient,
  repository: string,
  hasCompiler: boolean,
): Promise<void> {
  const branches = branchCalls(api);
  const known = await branches.list(repository).catch((reason: unknown) => {
    // Nothing is said of a repository that the farm has never heard of.
    if (reason instanceof ApiFailure && reason.code === "not_found") return [];
    throw reason;
  });
  const all = known.find(({ branch }) => branch === "*");
  const own = all?.own ?? {};
  if ((own.switches?.["cc"] ?? false) === hasCompiler) return;
  await branches.set(repository, "*", {
    body: { ...own, switches: { ...own.switches, cc: hasCompiler } },
    why: hasCompiler ? "this machine has a C compiler" : "this machine has no C compiler",
  });
}
