import { policyOf } from "../leases/configuration.ts";
import { DEFAULT_POLICY, type Policy } from "../leases/policy.ts";

/** The policy in a stored text; the default where it cannot be read, since one broken record must not hide the rest. */
export function readablePolicy(fleet: string, text: string): Policy {
  try {
    return policyOf(fleet, text);
  } catch {
    return DEFAULT_POLICY;
  }
}
