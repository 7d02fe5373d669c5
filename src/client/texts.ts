import type { ClaimAnswer, TaskAnswer } from "../queues/schema.ts";
import { elementTexts, memberTexts } from "../raw-json.ts";

/**
 * Gives each claimed task `payloadText`, for what JSON.parse loses: the digits of large numbers. It is cut out when
 * first asked for, and not enumerable, so that the task itself stays what the wire said.
 */
export function withPayloadTexts(answer: ClaimAnswer, text: string): ClaimAnswer {
  let texts: string[] | undefined;
  for (const [index, task] of answer.tasks.entries())
    define(task, "payloadText", () => {
      texts ??= elementTexts(memberTexts(text).get("tasks") ?? "[]");
      return memberTexts(texts[index] ?? "{}").get("payload");
    });
  return answer;
}

/** Gives a task that has a result its `resultText`. */
export function withResultText(answer: TaskAnswer, text: string): TaskAnswer {
  if ("result" in answer) define(answer, "resultText", () => memberTexts(text).get("result"));
  return answer;
}

function define(object: object, name: string, get: () => string | undefined): void {
  Object.defineProperty(object, name, { get, enumerable: false });
}
