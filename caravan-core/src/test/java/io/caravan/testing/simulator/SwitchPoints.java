package io.caravan.testing.simulator;

import java.util.HashSet;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.FieldVisitor;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Adds to a class the points at which an {@link Interleaver} may switch threads: before each use of a volatile field, a
 * concurrent collection, an atomic variable, a queue, or another class of {@code io.caravan}. The interleaver also
 * takes over the monitors of the class and its waits for futures.
 */
final class SwitchPoints {
    private static final int API = Opcodes.ASM9;
    private static final String INTERLEAVER = Interleaver.class.getName().replace('.', '/');
    private static final String OURS = "io/caravan/";
    private static final String CONCURRENT = "java/util/concurrent/";
    private static final Set<String> COLLECTIONS = Set.of("java/util/Queue", "java/util/Set", "java/util/Map");
    private static final Set<String> WAITS = Set.of("get()Ljava/lang/Object;", "join()Ljava/lang/Object;");

    private SwitchPoints() {}

    /** Returns the class file with switch points added. */
    static byte[] into(byte[] classFile) {
        ClassReader reader = new ClassReader(classFile);
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        reader.accept(new Points(writer, volatileFields(reader)), ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }

    private static Set<String> volatileFields(ClassReader reader) {
        Set<String> found = new HashSet<>();
        reader.accept(
                new ClassVisitor(API) {
                    @Override
                    public @Nullable FieldVisitor visitField(
                            int access, String name, String type, @Nullable String signature, @Nullable Object value) {
                        if ((access & Opcodes.ACC_VOLATILE) != 0) {
                            found.add(name);
                        }
                        return null;
                    }
                },
                ClassReader.SKIP_CODE);
        return found;
    }

    private static final class Points extends ClassVisitor {
        private final Set<String> volatileFields;
        private String self = "";

        Points(ClassVisitor next, Set<String> volatileFields) {
            super(API, next);
            this.volatileFields = volatileFields;
        }

        @Override
        public void visit(
                int version, int access, String name, @Nullable String signature, String parent, String[] interfaces) {
            self = name;
            super.visit(version, access, name, signature, parent, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String type, @Nullable String signature, String @Nullable [] exceptions) {
            boolean locks = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
            boolean ofClass = (access & Opcodes.ACC_STATIC) != 0;
            MethodVisitor next =
                    super.visitMethod(access & ~Opcodes.ACC_SYNCHRONIZED, name, type, signature, exceptions);
            return new Method(next, self, volatileFields, locks, ofClass);
        }
    }

    private static final class Method extends MethodVisitor {
        private final String self;
        private final Set<String> volatileFields;
        /** Whether the method is synchronized. */
        private final boolean locks;

        private final boolean ofClass;
        private final Label begin = new Label();

        Method(MethodVisitor next, String self, Set<String> volatileFields, boolean locks, boolean ofClass) {
            super(API, next);
            this.self = self;
            this.volatileFields = volatileFields;
            this.locks = locks;
            this.ofClass = ofClass;
        }

        private void call(String name, String type) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, INTERLEAVER, name, type, false);
        }

        private void callOnMonitor(String name) {
            if (ofClass) {
                super.visitLdcInsn(Type.getObjectType(self));
            } else {
                super.visitVarInsn(Opcodes.ALOAD, 0);
            }
            call(name, "(Ljava/lang/Object;)V");
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (locks) {
                callOnMonitor("enter");
                super.visitLabel(begin);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.MONITORENTER) {
                call("enter", "(Ljava/lang/Object;)V");
            } else if (opcode == Opcodes.MONITOREXIT) {
                call("exit", "(Ljava/lang/Object;)V");
            } else {
                if (locks && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                    callOnMonitor("exit");
                }
                super.visitInsn(opcode);
            }
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            if (locks) {
                // Covers only exceptions of the body, and not the exit before a return, which throws none.
                Label thrown = new Label();
                super.visitLabel(thrown);
                super.visitTryCatchBlock(begin, thrown, thrown, null);
                Object[] locals0 = ofClass ? new Object[0] : new Object[] {self};
                super.visitFrame(Opcodes.F_NEW, locals0.length, locals0, 1, new Object[] {"java/lang/Throwable"});
                callOnMonitor("exit");
                super.visitInsn(Opcodes.ATHROW);
            }
            super.visitMaxs(stack, locals);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String type) {
            boolean own = owner.equals(self);
            if (own ? volatileFields.contains(name) : owner.startsWith(OURS)) {
                call("point", "()V");
            }
            super.visitFieldInsn(opcode, owner, name, type);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String type, boolean ofInterface) {
            boolean shared = owner.startsWith(CONCURRENT) || COLLECTIONS.contains(owner) || owner.startsWith(OURS);
            if (shared && !name.equals("<init>")) {
                if (owner.startsWith(CONCURRENT) && WAITS.contains(name + type) && owner.endsWith("Future")) {
                    super.visitInsn(Opcodes.DUP);
                    call("await", "(Ljava/util/concurrent/Future;)V");
                } else {
                    call("point", "()V");
                }
            }
            super.visitMethodInsn(opcode, owner, name, type, ofInterface);
        }
    }
}
