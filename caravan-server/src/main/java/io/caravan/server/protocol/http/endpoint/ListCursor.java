package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.Slots;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Query;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The position at which a list of documents continues. In a cluster of several Raft groups, a list contains one group
 * after another.
 *
 * @param slot a slot of the group in which the list continues
 * @param position the position in the group; 0 for the beginning
 */
record ListCursor(int slot, long position) {
    private static final Pattern TEXT = Pattern.compile("(?:([0-9]{1,5})-)?([0-9]{1,19})");

    /**
     * Returns the cursor of a request, or the beginning of the list if there is none. Throws {@link Problem} if the
     * cursor is invalid.
     */
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
            // Rejected like text that is not a cursor.
        }
        throw Problem.badRequest("invalid_parameter", "cursor must be the cursor of an earlier response");
    }

    /**
     * Returns the cursor that a client sends to continue, or null at the end of the list.
     *
     * @param cluster the cluster of this node, whose group was listed; null without a cluster
     * @param next the position at which the list of this group continues; 0 if it is complete
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
