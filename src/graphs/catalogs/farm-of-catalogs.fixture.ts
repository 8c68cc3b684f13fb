import { everybody } from "#access/principal.ts";
import type { Db } from "#db/db.ts";
import { farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import { pushCatalog } from "./push-catalog.ts";

/** Returns a farm whose definitions a test pushes, or commits to its repository. */
export async function farmOfCatalogs(db: Db) {
  const farm = await farmOfGraphs(db);
  farm.repository.write({ ".grange/farm.yml": switched });
  farm.repository.commit("Begin");
  const services = { ...farm.submission, inProject: farm.parts.inProject };
  return {
    ...farm,
    services,
    push: (files: Record<string, string>) => pushCatalog(services, { files }, everybody),
    /** Returns the name of the farm's own repository, which has a graph from then on. */
    nameOfRepository: async () => (await farm.submit()).graph.repository,
  };
}

/** Definitions with at least one of each kind of entry. */
export const switched = `version: 1
switches:
  pgo: {description: Profile-guided}
  channel: {default: nightly}
graphs:
  nightly: {select: "all-tests", inactive: slow, switches: {pgo: on}}
jobs:
  build: {commands: "make \${switches.channel}", outputs: dist}
  pgo: {commands: make pgo, when: switches.pgo, tags: {kind: b2g}}
  unit: {commands: test, needs: [build], tags: {kind: test}}
  slow/one: {commands: test, needs: [build], tags: {slow: true}}
  report: {commands: report, needs: {slow/one: {optional: true, outputs: []}}}
  all-tests: {kind: join, needs: [unit, slow/one]}
  lint: {commands: lint}
`;
