package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A client of {@link MemoryObjects} that counts its calls and can inject faults. After an injected crash, all calls
 * throw {@link ClientCrash}. Another {@link MemoryObjects#client() client} then stands for the next process.
 *
 * <p><b>Threading.</b> Safe for any number of threads.
 */
public final class MemoryObjectStore implements ObjectStore {
    private static final int PAGE = 3;
    private static final String PART = "(?!\\.{1,2}(/|$))[A-Za-z0-9!_.-]+";
    private static final Pattern KEY = Pattern.compile(PART + "(/" + PART + ")*");

    private final MemoryObjects objects;
    private final Map<ObjectCall, Long> calls = new EnumMap<>(ObjectCall.class);
    private volatile ObjectFaults faults = ObjectFaults.NONE;
    private volatile boolean crashed;
    private long count;

    MemoryObjectStore(MemoryObjects objects) {
        this.objects = objects;
    }

    /** Sets the faults to inject into the next calls. The number of the next call is {@link #calls()} + 1. */
    public MemoryObjectStore faults(ObjectFaults next) {
        faults = next;
        return this;
    }

    /** Returns the number of calls so far. */
    public synchronized long calls() {
        return count;
    }

    /** Returns the number of calls of this kind so far. */
    public synchronized long calls(ObjectCall kind) {
        return calls.getOrDefault(kind, 0L);
    }

    private static void check(boolean valid, String key) {
        if (!valid) {
            throw new IllegalArgumentException("'" + key + "' is no key");
        }
    }

    @Override
    public String location() {
        return "memory:";
    }

    @Override
    public @Nullable Stored get(String key, int maxBytes) {
        check(KEY.matcher(key).matches(), key);
        Stored stored = call(ObjectCall.GET, key, () -> objects.stored(key));
        if (stored != null && stored.content().length > maxBytes) {
            throw problem(Kind.CORRUPT, key, "is longer than " + maxBytes + " bytes");
        }
        return stored;
    }

    @Override
    public InputStream open(String key) {
        check(KEY.matcher(key).matches(), key);
        ObjectFault fault = begin(ObjectCall.OPEN, key);
        Stored stored = objects.stored(key);
        end(fault == ObjectFault.RESPONSE_LOST ? ObjectFault.NONE : fault, key);
        if (stored == null) {
            throw problem(Kind.NOT_FOUND, key, "is not there");
        }
        return fault == ObjectFault.RESPONSE_LOST
                ? new BrokenStream(stored.content(), key)
                : new ByteArrayInputStream(stored.content());
    }

    /** A stream that fails after half of the content. */
    private static final class BrokenStream extends InputStream {
        private final InputStream half;
        private final String key;

        BrokenStream(byte[] content, String key) {
            half = new ByteArrayInputStream(content, 0, content.length / 2);
            this.key = key;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] bytes, int from, int length) {
            try {
                int read = half.read(bytes, from, length);
                if (read < 0) {
                    throw problem(Kind.UNAVAILABLE, key, "breaks off");
                }
                return read;
            } catch (IOException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    @Override
    public void put(String key, Content content) {
        check(KEY.matcher(key).matches(), key);
        ObjectFault fault = begin(ObjectCall.PUT, key);
        byte[] bytes = write(key, content);
        if (fault == ObjectFault.TRIED_TWICE) {
            bytes = write(key, content);
        }
        objects.put(key, bytes);
        end(fault, key);
    }

    private static byte[] write(String key, Content content) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            content.writeTo(bytes);
            return bytes.toByteArray();
        } catch (IOException problem) {
            throw new ObjectStoreException(
                    Kind.UNAVAILABLE, "memory:/" + key + ": its content ends in an error", problem);
        }
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        check(KEY.matcher(key).matches(), key);
        return call(ObjectCall.PUT_IF, key, () -> objects.putIf(key, content, tag));
    }

    @Override
    public Stream<Listed> list(String prefix) {
        check(
                prefix.isEmpty()
                        || prefix.endsWith("/") && KEY.matcher(prefix + "x").matches(),
                prefix);
        return Stream.iterate(
                        page(prefix, ""),
                        Objects::nonNull,
                        page -> page.size() < PAGE
                                ? null
                                : page(prefix, page.get(PAGE - 1).key()))
                .flatMap(List::stream);
    }

    private List<Listed> page(String prefix, String from) {
        return call(ObjectCall.LIST, prefix, () -> objects.page(prefix, from, PAGE));
    }

    @Override
    public void delete(String key) {
        check(KEY.matcher(key).matches(), key);
        call(ObjectCall.DELETE, key, () -> {
            objects.delete(key);
            return key;
        });
    }

    @Override
    public boolean deleteIf(String key, String tag) {
        check(KEY.matcher(key).matches(), key);
        call(ObjectCall.DELETE_IF, key, () -> {
            objects.deleteIf(key, tag);
            return key;
        });
        return true;
    }

    private <T extends @Nullable Object> T call(ObjectCall call, String key, Supplier<T> action) {
        ObjectFault fault = begin(call, key);
        T result = fault == ObjectFault.NOT_THERE && call == ObjectCall.GET ? null : action.get();
        if (fault == ObjectFault.TRIED_TWICE) {
            result = action.get();
        }
        end(fault, key);
        return result;
    }

    private ObjectFault begin(ObjectCall call, String key) {
        if (crashed) {
            throw new ClientCrash("this process is dead, and requests " + call + " " + key);
        }
        ObjectFault fault = faults.decide(counted(call), call, key);
        if (fault == ObjectFault.CRASH_BEFORE) {
            crashed = true;
            throw new ClientCrash("before " + call + " " + key);
        }
        if (fault == ObjectFault.REJECTED) {
            throw problem(Kind.UNAVAILABLE, key, "cannot be had now");
        }
        return fault;
    }

    private synchronized long counted(ObjectCall call) {
        calls.merge(call, 1L, Long::sum);
        return ++count;
    }

    private void end(ObjectFault fault, String key) {
        if (fault == ObjectFault.CRASH_AFTER) {
            crashed = true;
            throw new ClientCrash("after something was done to " + key);
        }
        if (fault == ObjectFault.RESPONSE_LOST) {
            throw problem(Kind.UNAVAILABLE, key, "has got lost on its way");
        }
    }

    private static ObjectStoreException problem(Kind kind, String key, String what) {
        return new ObjectStoreException(kind, "memory:/" + key + " " + what, null);
    }

    /** Does nothing. The objects stay in memory. */
    @Override
    public void close() {}
}
