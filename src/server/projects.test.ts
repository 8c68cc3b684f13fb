import { afterAll, beforeAll, expect, test } from "vitest";
import type { Project, RemovedProjects } from "#api/project.ts";
import { digestOf } from "#cas/digest-of.ts";
import { askServer, postTo } from "../../test/support/ask-server.ts";
import { aClosedFarm, blobsOf } from "./two-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
let operator: string;
let mallory: string;
const blob = Buffer.from("one byte is enough");
beforeAll(async () => {
  farm = await aClosedFarm({ GRANGE_PROJECTS_EACH: "3" });
  operator = await farm.tokenOf("operator", ["administer", "cache"]);
  mallory = await farm.tokenOf("mallory", ["cache"]);
});
afterAll(() => farm.stop());

const projects = async () =>
  (await askServer(farm.server, "GET", "/projects", undefined, operator)).body as Project[];
const remove = (wanted: object, token = operator) =>
  postTo<RemovedProjects>(farm.server, "/projects/remove", wanted, token);
const put = (project: string, token: string) =>
  blobsOf(farm.asker(project, token)).put(digestOf(blob), blob);
const putOverHttp = async (project: string, token: string) => {
  const response = await fetch(`${farm.server.url}/cache/${project}/ccache/aa/${"b".repeat(38)}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: blob,
  });
  return { status: response.status, text: await response.text() };
};

test("one principal does not take the projects of all, by gRPC or by HTTP, and hears what to do", async () => {
  await put("mallory1", mallory);
  await put("mallory2", mallory);
  expect(await putOverHttp("mallory3", mallory)).toMatchObject({ status: 200 });

  await expect(put("mallory4", mallory)).rejects.toMatchObject({
    code: "resource_exhausted",
    message: expect.stringContaining("mallory has created 3 projects"),
  });
  expect(await putOverHttp("mallory5", mallory)).toMatchObject({
    status: 429,
    text: expect.stringContaining("grange project"),
  });
  await put("mallory1", mallory);
  await put("operator1", operator);
  expect((await projects()).map(({ name, begunBy, blobs }) => [name, begunBy, blobs])).toEqual([
    ["mallory1", "mallory", 1],
    ["mallory2", "mallory", 1],
    ["mallory3", "mallory", 1],
    ["operator1", "operator", 1],
  ]);
});

test("an operator removes projects that are empty, and nobody else does", async () => {
  await expect(remove({ empty: true }, mallory)).rejects.toThrow("may not administer");

  const { removed, kept } = await remove({
    names: ["mallory1", "nowhere", "default"],
    empty: true,
  });

  expect(removed).toEqual([]);
  expect(kept).toEqual([
    { project: "mallory1", why: expect.stringContaining("it has 1 blobs") },
    { project: "nowhere", why: "there is no such project" },
    { project: "default", why: "the default project stays" },
  ]);
  const [held] = (await remove({ names: ["mallory1"], withBlobs: true })).kept;
  expect(held?.why).toContain("were asked for within 3 hours");
});
