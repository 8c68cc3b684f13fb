import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseCredentialsFile, readCredentials } from "./bucket-location.ts";

test("the first section of a credentials file counts", () => {
  const text = [
    "# written by a program",
    "[default]",
    "aws_access_key_id = A",
    "aws_secret_access_key=B/c+d=",
    "aws_session_token = T",
    "[other]",
    "aws_access_key_id = X",
  ].join("\n");

  expect(parseCredentialsFile(text)).toEqual({
    accessKeyId: "A",
    secretAccessKey: "B/c+d=",
    sessionToken: "T",
  });
  expect(parseCredentialsFile("[default]\naws_access_key_id = A")).toBeUndefined();
});

test("credentials that a program renews are read again, and a wrong file is named", async () => {
  const directory = await mkdtemp(join(tmpdir(), "grange-credentials-"));
  const path = join(directory, "bucket");
  const contentWith = (key: string) => `aws_access_key_id=${key}\naws_secret_access_key=s\n`;
  await writeFile(path, contentWith("old"));
  const read = readCredentials({ kind: "file", path });
  expect((await read()).accessKeyId).toBe("old");

  await writeFile(path, contentWith("new"));
  await utimes(path, 1, 1);
  expect((await read()).accessKeyId).toBe("new");

  await rm(directory, { recursive: true });
  await expect(read()).rejects.toMatchObject({
    code: "failed_precondition",
    message: expect.stringContaining(path),
  });
});
