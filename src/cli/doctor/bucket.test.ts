import { expect, test } from "vitest";
import { bucketServerNeed, startBucketServer } from "../../../test/support/bucket-server.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { type BucketSettings, bucketChecks } from "./bucket.ts";

const keys = { accessKeyId: "key", secretAccessKey: "secret" };
const find = (settings: BucketSettings) =>
  Promise.all(bucketChecks(settings).map((check) => check.run()));

test("settings that name no bucket, or no credentials, are failures with what is wrong", async () => {
  const [wrong] = await find({ url: "s4://farm", ...keys });
  const [without] = await find({ url: "s3://farm" });

  expect(wrong).toMatchObject({ status: "fail" });
  expect(wrong?.detail).toContain("GRANGE_STORE must be s3://BUCKET");
  expect(without?.detail).toContain("the bucket needs credentials");
});

test("a bucket that does not answer is a failure that names its address", async () => {
  const endpoint = `http://127.0.0.1:${await freePort()}`;

  const [found] = await find({ url: "s3://farm", endpoint, ...keys });

  expect(found).toMatchObject({ status: "fail" });
  expect(JSON.stringify(found)).not.toContain("secret");
});

test(
  "a bucket in which objects may be written, read and removed is in order",
  needs(bucketServerNeed),
  async () => {
    const server = await startBucketServer();
    const { bucket, accessKeyId, secretAccessKey } = server;
    const endpoint = server.endpoint.href;
    const settings = { url: `s3://${bucket}/doctor`, endpoint, accessKeyId, secretAccessKey };

    const [right] = await find(settings);
    const [wrong] = await find({ ...settings, secretAccessKey: "another" });
    await server.stop();

    expect(right).toMatchObject({
      status: "ok",
      detail: expect.stringContaining("written, read and removed in s3://farm/doctor"),
    });
    expect(wrong?.status).toBe("fail");
  },
);
