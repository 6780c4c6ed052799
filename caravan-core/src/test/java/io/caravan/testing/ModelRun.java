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
 * Asks the same of a store and of its model, and compares every answer.
 *
 * <p>Writes are not waited for one by one: they go out one after the other, and what their callbacks were told is
 * compared, the order included, when enough have gathered, and before upkeep. Reads in between meet writes that are not
 * durable yet.
 */
public final class ModelRun {
    private static final int MAX_PENDING = 200;
    private static final int SHOWN_OPERATIONS = 10;

    private final ModelLists model;
    private final UnaryOperator<ListStore> reopen;
    private final Tellings tellings = new Tellings();
    private final List<Tellings.Telling> expectedTellings = new ArrayList<>();
    private final Deque<String> lastOperations = new ArrayDeque<>();
    private ListStore store;
    private long operationCount;

    /**
     * A run that starts on an open store in the model's state.
     *
     * @param reopen closes the store it is given and opens it again; what it returns has to hold the same
     */
    public ModelRun(ListStore store, ModelLists model, UnaryOperator<ListStore> reopen) {
        this.store = store;
        this.model = model;
        this.reopen = reopen;
    }

    /** Performs so many operations, and compares all that the store holds in the end. Returns the store, open. */
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

    /** Performs one operation on store and model. */
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
            write.start(store, tellings.callback(tag));
        } catch (CaravanException refusal) {
            assertThat(Outcome.Refused.of(refusal)).isEqualTo(expected);
            return;
        }
        assertThat(expected).as("the store accepted the write").isInstanceOf(Outcome.Written.class);
        expectedTellings.add(Tellings.Telling.success(tag, ((Outcome.Written) expected).sequence()));
        if (expectedTellings.size() >= MAX_PENDING) {
            settle();
        }
    }

    /** Waits for the callbacks of all writes; a callback of a refused write, or told twice, shows as one too many. */
    private void settle() {
        assertThat(tellings.await(expectedTellings.size())).isEqualTo(expectedTellings);
        tellings.clear();
        expectedTellings.clear();
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
