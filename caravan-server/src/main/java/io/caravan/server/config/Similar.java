package io.caravan.server.config;

import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;

/** Finds the word that somebody may have meant. */
final class Similar {

    private Similar() {}

    /** The candidate that takes the fewest edits from the word. */
    static String nearest(String word, Collection<String> candidates) {
        return Collections.min(candidates, Comparator.comparingInt(candidate -> edits(word, candidate)));
    }

    /** The Levenshtein distance: characters to insert, drop or replace. */
    static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
