import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askServer } from "../../test/support/ask-server.ts";
import { aClosedFarm } from "./two-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
let root: string;
beforeAll(async () => {
  farm = await aClosedFarm();
  root = await farm.tokenOf("second-root", ["*"]);
  await askServer(farm.server, "PUT", "/access", { access: "private" }, root);
});
afterAll(() => farm?.stop());

const ask = (method: string, path: string, body?: unknown, token = root) =>
  askServer(farm.server, method, path, body, token);
const grant = (principal: string, verb: string, repository = "*") =>
  ask("POST", "/grants", { principal, verb, repository });
const messageOf = ({ body }: { readonly body: unknown }) =>
  (body as { error: { message: string } }).error.message;

/** Returns the status of a call that needs `read-logs` for the project. */
async function statusOfLog(project: string, token: string): Promise<number> {
  return (await ask("GET", `/invocations/none/log?project=${project}`, undefined, token)).status;
}

describe("a role", () => {
  test("gives its verbs where the grant says, and is one grant in the list", async () => {
    const token = await farm.tokenOf("viewer-of-web", []);
    await grant("viewer-of-web", "role:viewer", "web");

    expect(await statusOfLog("web", token)).toBe(404);
    expect(await statusOfLog("other", token)).toBe(403);
    expect((await ask("GET", "/grants", undefined, token)).body).toMatchObject([
      { verb: "role:viewer", repository: "web" },
    ]);
  });

  test("gives new verbs to all who have it, and takes others from them", async () => {
    await ask("PUT", "/roles/triage", { verbs: ["read", "read-logs"] });
    const token = await farm.tokenOf("triager", []);
    await grant("triager", "role:triage");
    const before = await statusOfLog("web", token);

    await ask("PUT", "/roles/triage", { verbs: ["read", "cancel"] });

    expect([before, await statusOfLog("web", token)]).toEqual([404, 403]);
  });

  test("is not removed while somebody has it", async () => {
    await ask("PUT", "/roles/kept", { verbs: ["read"] });
    await grant("somebody", "role:kept");

    const refused = await ask("DELETE", "/roles/kept", {});
    await ask("POST", "/grants/remove", { principal: "somebody", verb: "role:kept" });
    const removed = await ask("DELETE", "/roles/kept", {});

    expect([refused.status, removed.status]).toEqual([409, 200]);
    expect(removed.body).not.toContainEqual(expect.objectContaining({ name: "kept" }));
  });

  test("of the farm itself cannot be changed", async () => {
    const answers = [
      await ask("PUT", "/roles/viewer", { verbs: ["*"] }),
      await ask("DELETE", "/roles/viewer", {}),
    ];

    expect(answers.map(({ status }) => status)).toEqual([409, 409]);
  });

  test("is not given to callers without a token, and must exist", async () => {
    const toAnyone = await grant("anyone", "role:owner");
    const unknown = await grant("somebody", "role:nothing");

    expect([toAnyone.status, unknown.status]).toEqual([400, 404]);
    expect(messageOf(toAnyone)).toContain("grange access set");
    expect(messageOf(unknown)).toContain("there is no role:nothing; there are developer");
  });

  test("of an owner makes an administrator, whom nothing may take away last", async () => {
    const token = await farm.tokenOf("by-role", []);
    await ask("PUT", "/roles/root", { verbs: ["administer"] });
    await grant("by-role", "role:root");
    for (const principal of ["root", "second-root"])
      await ask("POST", "/grants/remove", { principal, verb: "*" }, token);

    const refused = await ask("PUT", "/roles/root", { verbs: ["read"] }, token);

    expect(refused.status).toBe(409);
    expect(messageOf(refused)).toContain("nobody could administer");
    for (const principal of ["root", "second-root"])
      await ask("POST", "/grants", { principal, verb: "*" }, token);
  });
});

describe("a check of a right", () => {
  test("names the grants that allow it, those elsewhere, and the one that is missing", async () => {
    await grant("checked", "role:viewer", "web*");
    await grant("checked", "submit", "api");
    const check = async (verb: string, repository: string) =>
      (await ask("GET", `/principals/checked/check?verb=${verb}&repository=${repository}`)).body;

    expect(await check("read-logs", "web-site")).toMatchObject({
      allowed: true,
      grants: [{ principal: "checked", verb: "role:viewer", repository: "web*" }],
      missing: null,
    });
    expect(await check("submit", "web-site")).toMatchObject({
      allowed: false,
      grants: [],
      elsewhere: [{ verb: "submit", repository: "api" }],
      missing: "grange grant add checked submit --repository web-site",
    });
  });

  test("of somebody else needs the right to administer", async () => {
    const token = await farm.tokenOf("curious", ["read"]);
    const path = (name: string) => `/principals/${name}/check?verb=read`;

    const ofOthers = await ask("GET", path("checked"), undefined, token);
    const ofOneself = await ask("GET", path("curious"), undefined, token);

    expect([ofOthers.status, ofOneself.status]).toEqual([403, 200]);
    expect(ofOneself.body).toMatchObject({ allowed: true });
  });
});
