import { announce } from "./announce.ts";
import { type Api, makeApi } from "./api.ts";
import { openDashboard } from "./dashboard.ts";
import { html } from "./dom.ts";
import { makeKeyForm } from "./key-form.ts";
import { keepKey, readKey } from "./session.ts";

const page = html("div", { class: "page" });
document.body.prepend(page);

function ask(why?: string) {
  page.replaceChildren(makeKeyForm(open, why));
}

function open(key: string, api: Api) {
  keepKey(key);
  const dashboard = openDashboard(api, (why) => {
    keepKey(undefined);
    dashboard.close();
    ask(why);
  });
  page.replaceChildren(...dashboard.elements);
  announce("Dashboard opened");
}

const key = readKey();
if (key) open(key, makeApi(key));
else ask();
