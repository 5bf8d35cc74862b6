package flow

import "google.golang.org/protobuf/proto"

// Protobuf is the codec of a generated message type, given as its pointer:
//
//	flow.Protobuf[*pb.Session]()
//
// The encoding is deterministic as far as one version of the library goes; a
// message with all fields at their defaults has no bytes in that format, so a
// byte is put before each value (see Prefixed). Fields that this program does not
// know are kept.
func Protobuf[M proto.Message]() Codec[M] { return Prefixed[M](protobufCodec[M]{}) }

type protobufCodec[M proto.Message] struct{}

func (protobufCodec[M]) Encode(m M) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

func (protobufCodec[M]) Decode(b []byte) (M, error) {
	var none M
	m := none.ProtoReflect().New().Interface().(M)
	return m, proto.Unmarshal(b, m)
}
