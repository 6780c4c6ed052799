package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.Slots;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Query;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a list of documents goes on. In a cluster of several groups a list goes through one after the other.
 *
 * @param slot one of the group's where it goes on
 * @param position in the group; 0 for its beginning
 */
record ListCursor(int slot, long position) {
    private static final Pattern TEXT = Pattern.compile("(?:([0-9]{1,5})-)?([0-9]{1,19})");

    /** The cursor of a request, which begins without one. Throws {@link Problem} when it is not one of an answer. */
    static ListCursor of(Query query) {
        String text = query.get("cursor");
        if (text == null) {
            return new ListCursor(0, 0);
        }
        Matcher matcher = TEXT.matcher(text);
        try {
            if (matcher.matches()) {
                int slot = matcher.group(1) == null ? 0 : Integer.parseInt(matcher.group(1));
                if (slot < Slots.COUNT) {
                    return new ListCursor(slot, Long.parseLong(matcher.group(2)));
                }
            }
        } catch (NumberFormatException tooGreat) {
            // Refused like what is no cursor.
        }
        throw Problem.badRequest("invalid_parameter", "cursor must be that of an answer");
    }

    /**
     * What a client sends to go on, or null when nothing is left.
     *
     * @param cluster what this host, whose group was listed, is part of; null when it is alone
     * @param next where its group goes on; 0 when it was listed to its end
     */
    static @Nullable String text(@Nullable Cluster cluster, long next) {
        if (cluster == null || cluster.groups().size() == 1) {
            return next == 0 ? null : Long.toString(next);
        }
        int slot = next == 0
                ? cluster.group().slots().last() + 1
                : cluster.group().slots().first();
        return slot == Slots.COUNT ? null : slot + "-" + next;
    }
}
