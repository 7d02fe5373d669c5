/** Gives the dashboard, as the assets beside the Worker hold it: status, body, caching and content policy. */
export type Page = (request: Request) => Promise<Response>;

const FORBIDDING = "default-src 'none'; frame-ancestors 'none'";

/** Answers with a page that nobody may frame, sniff or learn addresses from; without a policy of its own it may do nothing. */
export async function pageResponse(page: Page, request: Request): Promise<Response> {
  const { status, body, headers } = await page(request);
  const answer = new Response(body, { status, headers });
  answer.headers.set("x-content-type-options", "nosniff");
  answer.headers.set("referrer-policy", "no-referrer");
  if (!answer.headers.has("content-security-policy")) {
    answer.headers.set("content-security-policy", FORBIDDING);
  }
  return answer;
}
