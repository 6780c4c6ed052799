package io.caravan.server.archive.object;

import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** Decides what goes wrong with a client's calls. */
@FunctionalInterface
public interface ObjectFaults {
    /** Nothing ever does. */
    ObjectFaults NONE = (number, call, key) -> ObjectFault.NONE;

    /**
     * Decides, before the call.
     *
     * @param number how many calls the client has made, from 1 on
     */
    ObjectFault decide(long number, ObjectCall call, String key);

    /** One fault, at one call. */
    static ObjectFaults at(long which, ObjectFault fault) {
        return (number, call, key) -> number == which ? fault : ObjectFault.NONE;
    }

    /** One fault, at one call of a kind, counted from now on. */
    static ObjectFaults at(ObjectCall kind, long which, ObjectFault fault) {
        AtomicLong left = new AtomicLong(which);
        return (number, call, key) -> call == kind && left.decrementAndGet() == 0 ? fault : ObjectFault.NONE;
    }

    /** A fault now and then, but no crash: each call has one in so many of going wrong. */
    static ObjectFaults sometimes(Random random, int oneIn) {
        ObjectFault[] faults = {ObjectFault.REFUSED, ObjectFault.ANSWER_LOST, ObjectFault.TRIED_TWICE};
        return (number, call, key) ->
                random.nextInt(oneIn) == 0 ? faults[random.nextInt(faults.length)] : ObjectFault.NONE;
    }
}
