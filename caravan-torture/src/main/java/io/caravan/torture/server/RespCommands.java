package io.caravan.torture.server;

import static io.caravan.bench.client.RespConnection.ascii;

import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Intent.Operation;
import io.caravan.torture.model.Lists;
import io.caravan.torture.model.TortureValues;
import java.nio.ByteBuffer;
import java.util.List;

/** Encodes intents and reads as RESP commands. */
final class RespCommands {
    private static final long READABLE_IDS = 1_000_000;

    private final Lists lists;

    RespCommands(Lists lists) {
        this.lists = lists;
    }

    /**
     * Returns the key of a list, which is readable for small ids, and contains a line break for other ids. All keys of
     * a worker have the same hash tag, so that its lists are in one shard of the server's store.
     */
    private byte[] key(long id) {
        String tag = "{" + lists.owner(id) + "}";
        if (id >= 0 && id < READABLE_IDS) {
            return ascii(tag + "list:" + id);
        }
        byte[] before = ascii(tag + "\r\n");
        return ByteBuffer.allocate(before.length + Long.BYTES)
                .put(before)
                .putLong(id)
                .array();
    }

    byte[][] of(Intent intent) {
        Operation first = intent.operations().get(0);
        return switch (first.kind()) {
            case APPEND -> push(intent);
            case TRIM -> words("LTRIM", first.id(), first.argument(), -1);
            case KEEP ->
                first.argument() == 0
                        ? words("LTRIM", first.id(), 1, 0)
                        : words("LTRIM", first.id(), -first.argument(), -1);
            case DELETE ->
                keyed("DEL", intent.operations().stream().map(Operation::id).toList());
            case TRIM_TO, EXPECT -> throw new AssertionError("RESP clients do not see sequences");
        };
    }

    private byte[][] push(Intent intent) {
        List<Operation> operations = intent.operations();
        byte[][] words = new byte[2 + operations.size()][];
        words[0] = ascii("RPUSH");
        words[1] = key(operations.get(0).id());
        for (int op = 0; op < operations.size(); op++) {
            Operation operation = operations.get(op);
            words[2 + op] = TortureValues.bytes(operation.id(), intent.number(), op, (int) operation.argument());
        }
        return words;
    }

    /** Encodes an LRANGE command: both positions are inclusive, and -1 is the position of the last value. */
    byte[][] range(long id, long first, long last) {
        return words("LRANGE", id, first, last);
    }

    private byte[][] words(String command, long id, long first, long last) {
        return new byte[][] {ascii(command), key(id), ascii(Long.toString(first)), ascii(Long.toString(last))};
    }

    byte[][] length(long id) {
        return keyed("LLEN", List.of(id));
    }

    byte[][] exists(List<Long> ids) {
        return keyed("EXISTS", ids);
    }

    private byte[][] keyed(String command, List<Long> ids) {
        byte[][] words = new byte[1 + ids.size()][];
        words[0] = ascii(command);
        for (int i = 0; i < ids.size(); i++) {
            words[1 + i] = key(ids.get(i));
        }
        return words;
    }
}
