package io.caravan.server.resp;

import java.util.List;
import java.util.Locale;

/**
 * A command of the table, described as Redis's {@code COMMAND} does.
 *
 * @param name in upper case
 * @param arity number of words, the name included; when negative, the least number
 * @param flags what kind of command it is
 * @param keys which words are documents' names
 * @param action what it does
 */
record CommandSpec(String name, int arity, List<String> flags, Keys keys, Action action) {

    /**
     * Positions of the words that are documents' names.
     *
     * @param first the first one, 0 when there is none
     * @param last the last one; -1 is the last word
     * @param step from one to the next
     */
    record Keys(int first, int last, int step) {
        static final Keys NONE = new Keys(0, 0, 0);
        static final Keys FIRST = new Keys(1, 1, 1);
        static final Keys ALL = new Keys(1, -1, 1);
    }

    boolean takes(int words) {
        return arity >= 0 ? words == arity : words >= -arity;
    }

    Reply.Error wrongArity() {
        return new Reply.Error("ERR wrong number of arguments for '" + lowerName() + "' command");
    }

    String lowerName() {
        return name.toLowerCase(Locale.ROOT);
    }

    Reply describe() {
        List<Reply> flagReplies = flags.stream().<Reply>map(Reply.Simple::new).toList();
        return new Reply.Array(List.of(
                Reply.Bulk.of(lowerName()),
                new Reply.Number(arity),
                new Reply.Array(flagReplies),
                new Reply.Number(keys.first()),
                new Reply.Number(keys.last()),
                new Reply.Number(keys.step())));
    }
}
