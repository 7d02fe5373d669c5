import { type Browser, chromium } from "playwright-core";
import { findProgram } from "./programs.ts";

/** Where Chromium is on this machine, or undefined; FLEETGATE_CHROMIUM names another. */
export function chromiumPath(): string | undefined {
  try {
    return process.env.FLEETGATE_CHROMIUM ?? findProgram("chromium", "chromium-browser", "google-chrome");
  } catch {
    return undefined;
  }
}

/** Starts a headless Chromium that looks nothing up by itself; rejects when there is none. */
export async function startChromium(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (!executablePath) throw new Error("Chromium is not installed (apt-get install chromium)");
  // Its own sandbox does not work for root, and /dev/shm is small in containers.
  const args = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-gpu",
  ];
  return chromium.launch({ executablePath, args, chromiumSandbox: false });
}
