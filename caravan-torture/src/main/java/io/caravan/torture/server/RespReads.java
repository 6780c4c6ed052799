package io.caravan.torture.server;

import io.caravan.bench.client.RespConnection.Reply;
import io.caravan.torture.model.ListModel;
import io.caravan.torture.model.Lists;
import io.caravan.torture.model.Sightings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Reads lists over one connection: the connection's own lists, which must match its model exactly, and other
 * connections' lists.
 */
final class RespReads {
    private final int index;
    private final Lists lists;
    private final RespCommands commands;
    private final SplittableRandom random;
    private final RespWorker worker;

    RespReads(int index, Lists lists, SplittableRandom random, RespWorker worker) {
        this.index = index;
        this.lists = lists;
        this.commands = new RespCommands(lists);
        this.random = random;
        this.worker = worker;
    }

    /** Sends the next read, which is chosen at random. */
    void next() throws IOException {
        long own = any(lists.of(index));
        switch (random.nextInt(8)) {
            case 0, 1 -> worker.send(reply -> checkRange(own, 0, -1, reply), commands.range(own, 0, -1));
            case 2 -> part(own);
            case 3, 4 -> worker.send(reply -> checkLength(own, reply), commands.length(own));
            case 5 -> existence(own, any(lists.of(index)));
            default -> another();
        }
    }

    private long any(List<Long> ids) {
        return ids.get(random.nextInt(ids.size()));
    }

    private void part(long id) throws IOException {
        int length = worker.from(model -> model.length(id)) + 2;
        long first = random.nextInt(-length, length);
        long last = random.nextInt(-length, length);
        worker.send(reply -> checkRange(id, first, last, reply), commands.range(id, first, last));
    }

    private void existence(long one, long other) throws IOException {
        worker.send(reply -> checkExistence(one, other, reply), commands.exists(List.of(one, other)));
    }

    private void checkRange(long id, long first, long last, Reply reply) {
        ListModel should = worker.from(model -> RespModel.range(model.list(id), first, last));
        ListModel is = list(reply);
        String difference = is == null ? "got the reply " + reply.words() : should.difference(is);
        checked("LRANGE " + first + " " + last + " of list " + id, difference);
    }

    private void checkLength(long id, Reply reply) {
        checkNumber("LLEN of list " + id, worker.from(model -> model.length(id)), reply);
    }

    private void checkExistence(long one, long other, Reply reply) {
        int should = worker.from(model -> Math.min(1, model.length(one)) + Math.min(1, model.length(other)));
        checkNumber("EXISTS of lists " + one + " and " + other, should, reply);
    }

    private void checkNumber(String what, int should, Reply reply) {
        boolean right = Integer.toString(should).equals(reply.text());
        checked(what, right ? null : "should be " + should + ", got the reply " + reply.words());
    }

    private void checked(String what, @Nullable String difference) {
        worker.ledger().reads.incrementAndGet();
        if (difference != null) {
            worker.problem("read a value that it had not written: " + what + " " + difference);
        }
    }

    /** Reads a list of another connection, whose expected contents are known only when all replies have arrived. */
    private void another() throws IOException {
        int owner = random.nextInt(lists.workers());
        long id = any(lists.of(owner));
        int completed = worker.ledger().worker(owner).completed();
        worker.send(reply -> saw(id, completed, reply), commands.range(id, 0, -1));
    }

    private void saw(long id, int completed, Reply reply) {
        ListModel seen = list(reply);
        if (seen == null) {
            worker.problem("LRANGE of list " + id + " got the reply " + reply.words());
            return;
        }
        String words = "connection " + index + " saw " + seen.count() + " values, the last: " + seen.last();
        worker.ledger().saw(new Sightings.Sighting(id, completed, seen.digest(), words));
    }

    private static @Nullable ListModel list(Reply reply) {
        List<byte[]> values = reply.values();
        if (values == null) {
            return null;
        }
        ListModel list = new ListModel(0);
        values.forEach(value -> list.append(ByteBuffer.wrap(value)));
        return list;
    }
}
