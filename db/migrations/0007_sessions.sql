-- What a user is shown of his sessions, and what lets a browser come twice with one refresh token: it asks from two
-- windows at once, or the answer is lost with a reload (server/auth/auth.ts).
alter table sessions
  add column user_agent    text not null default '' check (char_length(user_agent) <= 500), -- as the login named it
  add column last_used     timestamptz not null default now(), -- login or last refresh
  add column previous_hash bytea,                          -- sha-256 of the refresh token before; null: it was no browser's
  add column next_salt     bytea;                          -- what made the one that is good now out of that one
