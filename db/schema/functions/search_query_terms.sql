-- Returns the hashes of the terms that a search asks for, as search_ngrams(), digit_terms(), pinyin_terms() and user_terms()
-- compute them. `wanted` is {"texts": […], "pairs": […], "phones": […], "pinyin": […], "wholeNames": […]}; each may be missing.
-- A pair is a text of two characters. There may be hundreds, and a function call for each would take longer than the search.
create or replace function search_query_terms(prefix text, wanted jsonb) returns bigint[]
  language sql immutable parallel safe as $$
  select array(select unnest(banyan.search_query_ngrams(prefix || 'n', t)) from jsonb_array_elements_text(wanted -> 'texts') t)
    || array(select hashtextextended(prefix || 'n' || lower(t), 0) from jsonb_array_elements_text(wanted -> 'pairs') t)
    || array(select unnest(banyan.digit_terms(prefix || 'd', t)) from jsonb_array_elements_text(wanted -> 'phones') t)
    || array(select hashtextextended(prefix || 'p' || t, 0) from jsonb_array_elements_text(wanted -> 'pinyin') t)
    || array(select hashtextextended(prefix || '=' || lower(t), 0) from jsonb_array_elements_text(wanted -> 'wholeNames') t)
$$;
