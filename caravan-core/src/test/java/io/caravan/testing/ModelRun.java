package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Performs the same random operations on a store and on its model, and compares every result.
 *
 * <p>Writes are started one after the other, without waiting for each. The calls of their callbacks, and the order of
 * these calls, are compared in groups and before the store is reopened. Reads in between encounter writes that are not
 * durable yet.
 */
public final class ModelRun {
    private static final int MAX_PENDING = 200;
    private static final int SHOWN_OPERATIONS = 10;

    private final ModelLists model;
    private final UnaryOperator<ListStore> reopen;
    private final Completions completions = new Completions();
    private final List<Completions.Completion> expectedCompletions = new ArrayList<>();
    private final Deque<String> lastOperations = new ArrayDeque<>();
    private ListStore store;
    private long operationCount;

    /**
     * Creates a run on an open store whose contents match the model.
     *
     * @param reopen closes a store, opens it again, and returns it; its contents must be the same
     */
    public ModelRun(ListStore store, ModelLists model, UnaryOperator<ListStore> reopen) {
        this.store = store;
        this.model = model;
        this.reopen = reopen;
    }

    /** Performs this many operations and then compares all contents of the store. Returns the open store. */
    public ListStore run(RandomOperations operations, int count) {
        try {
            for (int i = 0; i < count; i++) {
                perform(operations.next());
            }
            settle();
            assertThat(StoreContents.of(store)).isEqualTo(model.contents());
        } catch (RuntimeException | AssertionError failure) {
            throw new AssertionError(
                    "after " + operationCount + " operations, the last being\n  " + String.join("\n  ", lastOperations)
                            + "\n" + failure,
                    failure);
        }
        return store;
    }

    /** Performs one operation on the store and the model. */
    public void perform(Operation operation) {
        remember(operation);
        Outcome expected = operation.expect(model);
        if (operation instanceof Operation.Write write) {
            start(write, expected);
        } else if (operation instanceof Operation.Read read) {
            assertThat(read.perform(store)).isEqualTo(expected);
        } else {
            keepUp((Operation.Upkeep) operation);
        }
    }

    private void remember(Operation operation) {
        operationCount++;
        lastOperations.addLast(operationCount + ". " + operation);
        if (lastOperations.size() > SHOWN_OPERATIONS) {
            lastOperations.removeFirst();
        }
    }

    private void start(Operation.Write write, Outcome expected) {
        long tag = operationCount;
        try {
            write.start(store, completions.callback(tag));
        } catch (CaravanException rejection) {
            assertThat(Outcome.Rejected.of(rejection)).isEqualTo(expected);
            return;
        }
        assertThat(expected).as("the store accepted the write").isInstanceOf(Outcome.Written.class);
        expectedCompletions.add(Completions.Completion.success(tag, ((Outcome.Written) expected).sequence()));
        if (expectedCompletions.size() >= MAX_PENDING) {
            settle();
        }
    }

    /**
     * Waits for the callbacks of all writes. A callback of a rejected write, or a second call of a callback, appears as
     * an excess call.
     */
    private void settle() {
        assertThat(completions.await(expectedCompletions.size())).isEqualTo(expectedCompletions);
        completions.clear();
        expectedCompletions.clear();
    }

    private void keepUp(Operation.Upkeep upkeep) {
        switch (upkeep) {
            case FLUSH -> store.flush();
            case CHECKPOINT -> store.checkpoint();
            case REOPEN -> {
                settle();
                store = reopen.apply(store);
            }
        }
    }
}
