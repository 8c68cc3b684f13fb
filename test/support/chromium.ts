import { type Browser, chromium } from "playwright-core";

/** Starts the system's Chromium, without the errands that it runs for itself. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["GRANGE_TEST_CHROMIUM"] ?? "/usr/bin/chromium",
    args: [
      "--headless",
      // Tests and measurements may run as root, where Chromium's own sandbox does not.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
