-- Returns the n-grams to look for: the pairs, which imply the single characters and occur in fewer texts, or a single character.
create or replace function search_query_ngrams(prefix text, part text) returns bigint[]
  language sql immutable parallel safe as $$
  select coalesce(array_agg(hashtextextended(prefix || substr(lower(part), n, 2), 0)), '{}')
  from generate_series(1, greatest(char_length(lower(part)) - 1, 1)) n
  where part <> ''
$$;
