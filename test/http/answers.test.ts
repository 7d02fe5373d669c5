import { expect, test } from "vitest";
import { furnish } from "../support/furnish.ts";
import { accepts, type Described, operationsOf, sampleOf, urlOf } from "../support/openapi.ts";
import { World } from "../support/world.ts";

const isLast = ({ method }: Described) => Number(method === "DELETE");

test("every good answer has a status and a shape that /openapi.json gives it", async () => {
  const world = new World();
  await furnish(world);
  const operations = await operationsOf(world);
  for (const one of operations.toSorted((a, b) => isLast(a) - isLast(b))) {
    const { status, body } = await world.call(one.method, urlOf(one), sampleOf(one));
    if (status >= 400) continue;
    const schema = one.answers[status];
    expect(schema, `${one.id} answers ${status}`).toBeDefined();
    expect(accepts(schema ?? {}, body), `${one.id}: ${JSON.stringify(body)}`).toBe(true);
  }
});

test("/openapi.json names each scope of a call once", async () => {
  for (const { id, description } of await operationsOf(new World())) {
    const scopes = description.replace(/^Scope: /, "").split(" or ");
    expect(new Set(scopes).size, `${id}: ${description}`).toBe(scopes.length);
    expect(scopes.at(-1)).toBe("admin");
  }
});
