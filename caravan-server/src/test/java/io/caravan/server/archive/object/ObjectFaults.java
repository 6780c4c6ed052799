package io.caravan.server.archive.object;

import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** A function that selects a fault for each call that a client makes. */
@FunctionalInterface
public interface ObjectFaults {
    /** A function that injects no faults. */
    ObjectFaults NONE = (number, call, key) -> ObjectFault.NONE;

    /**
     * Returns the fault to inject into a call.
     *
     * @param number the number of the call, counted from 1
     */
    ObjectFault decide(long number, ObjectCall call, String key);

    /** Returns a function that injects one fault into the call with this number. */
    static ObjectFaults at(long which, ObjectFault fault) {
        return (number, call, key) -> number == which ? fault : ObjectFault.NONE;
    }

    /** Returns a function that injects one fault into the nth call of this kind from now on. */
    static ObjectFaults at(ObjectCall kind, long which, ObjectFault fault) {
        AtomicLong left = new AtomicLong(which);
        return (number, call, key) -> call == kind && left.decrementAndGet() == 0 ? fault : ObjectFault.NONE;
    }

    /** Returns a function that injects random faults, but no crashes, into one in {@code oneIn} calls on average. */
    static ObjectFaults sometimes(Random random, int oneIn) {
        ObjectFault[] faults = {ObjectFault.REJECTED, ObjectFault.RESPONSE_LOST, ObjectFault.TRIED_TWICE};
        return (number, call, key) ->
                random.nextInt(oneIn) == 0 ? faults[random.nextInt(faults.length)] : ObjectFault.NONE;
    }
}
